# cause: shape
# subject: batch['image']
# old: f32[8,4]
# new: f32[2,4]
# advice: pad

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO


def model(batch):
    w = numpyro.param("w", jnp.ones((3, 4)))
    with numpyro.plate("rows", batch["image"].shape[0]):
        z = numpyro.sample("z", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
        numpyro.sample("image", dist.Normal(z @ w, 1.0).to_event(1), obs=batch["image"])


def guide(batch):
    enc = numpyro.param("enc", jnp.ones((4, 3)) * 0.1)
    with numpyro.plate("rows", batch["image"].shape[0]):
        numpyro.sample("z", dist.Normal(batch["image"] @ enc, 1.0).to_event(1))


@jax.jit
def update(state, batch):
    return svi.update(state, batch)


svi = SVI(model, guide, numpyro.optim.Adam(1e-2), Trace_ELBO())
images = np.ones((18, 4), np.float32)
batches = [{"image": images[at:at + 8]} for at in range(0, 18, 8)]
state = svi.init(jax.random.key(0), batches[0])
for batch in batches:
    state, loss = update(state, batch)  # <- cause
