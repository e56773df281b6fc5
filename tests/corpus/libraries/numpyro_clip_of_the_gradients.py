# cause: constant
# program: jit_step
# reason: the fit diverged, so the second one clips its gradients at a smaller value

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO


def model(x, y=None):
    weights = numpyro.sample("weights", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0.0, 2.0))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(x @ weights + bias, 0.5), obs=y)


def guide(x, y=None):
    loc = numpyro.param("loc", jnp.zeros(3))
    scale = numpyro.param("scale", jnp.ones(3), constraint=dist.constraints.positive)
    numpyro.sample("weights", dist.Normal(loc, scale).to_event(1))
    numpyro.sample("bias", dist.Normal(numpyro.param("bias_loc", jnp.zeros(())), 1.0))


def fit(batches, clip_norm):
    optimizer = numpyro.optim.ClippedAdam(1e-2, clip_norm=clip_norm)
    svi = SVI(model, guide, optimizer, Trace_ELBO(num_particles=2))

    @jax.jit
    def step(state, x, y):
        return svi.update(state, x, y)  # <- cause

    state = svi.init(jax.random.key(0), *batches[0])
    for x, y in batches:
        state, loss = step(state, x, y)  # <- call
    return float(loss)


rng = np.random.default_rng(0)
batches = []
for _ in range(3):
    x = rng.normal(size=(8, 3)).astype(np.float32)
    batches.append((x, (x.sum(-1) + 0.5).astype(np.float32)))
for clip_norm in (10.0, 0.5):
    print(clip_norm, fit(batches, clip_norm))
