# cause: flag
# subject: xla_cpu_multi_thread_eigen
# old: unset
# new: false
# program: jit_svi_step
# run: PYTHONHASHSEED=0 XLA_FLAGS=
# run: PYTHONHASHSEED=0 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
# reason: on the shared machine the job's script limits the threads of each run; the seed of the hashes is fixed because numpyro iterates over sets of sites

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(slope * x + intercept, noise), obs=y)


svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.02), Trace_ELBO())


@jax.jit
def svi_step(state, x, y):
    return svi.update(state, x, y)


x = np.linspace(-1.0, 1.0, 8, dtype=np.float32)
y = 2 * x + 1
state = svi.init(jax.random.key(0), x, y)
for _ in range(4):
    state, loss = svi_step(state, x, y)  # <- cause
print(float(loss))
