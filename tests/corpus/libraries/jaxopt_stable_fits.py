# cause: stable
# reason: one solver fits several targets of one shape

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


solver = jaxopt.GradientDescent(loss, maxiter=5, stepsize=0.05)
run = jax.jit(solver.run)
rng = np.random.default_rng(0)
x = rng.normal(size=(8, 3)).astype(np.float32)
for _ in range(3):
    start = {"w": np.zeros(3, np.float32), "b": np.float32(0.0)}
    params, state = run(start, x, rng.normal(size=8).astype(np.float32))
    print(int(state.iter_num), np.asarray(params["w"]))
