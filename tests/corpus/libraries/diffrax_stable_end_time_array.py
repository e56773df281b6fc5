# cause: stable
# reason: times as arrays are arguments, whatever their value is
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp
import numpy as np

term = diffrax.ODETerm(lambda t, y, args: -args * y)
solver = diffrax.Dopri5()
for t1, rate in ((1.0, 0.1), (1.5, 0.2), (2.0, 0.4)):
    solution = diffrax.diffeqsolve(term, solver, jnp.float32(0.0), jnp.float32(t1), jnp.float32(0.1),
                                   np.ones(3, np.float32), args=np.float32(rate),
                                   saveat=diffrax.SaveAt(ts=np.linspace(0, t1, 4, dtype=np.float32)))
    print(solution.stats["num_steps"], np.asarray(solution.ys).sum())
