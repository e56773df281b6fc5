# cause: stable
# reason: the weight of the divergence is annealed as an array, the last batch is padded and masked

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

BATCH, PIXELS, LATENTS = 4, 12, 2


class Autoencoder(nn.Module):
    @nn.compact
    def __call__(self, images, key):
        hidden = nn.relu(nn.Dense(8)(images))
        mean, log_variance = nn.Dense(LATENTS)(hidden), nn.Dense(LATENTS)(hidden)
        noise = jax.random.normal(key, mean.shape)
        latents = mean + jnp.exp(0.5 * log_variance) * noise
        return nn.Dense(PIXELS)(nn.relu(nn.Dense(8)(latents))), mean, log_variance


@jax.jit
def train_step(state, batch, key, beta):
    def loss_fn(params):
        logits, mean, log_variance = state.apply_fn(params, batch["images"], key)
        error = optax.sigmoid_binary_cross_entropy(logits, batch["images"]).sum(-1)
        divergence = -0.5 * jnp.sum(1 + log_variance - mean ** 2 - jnp.exp(log_variance), -1)
        each = (error + beta * divergence) * batch["mask"]
        return each.sum() / batch["mask"].sum()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def batches(images):
    for start in range(0, len(images), BATCH):
        rows = images[start:start + BATCH]
        missing = BATCH - len(rows)
        yield {"images": np.pad(rows, ((0, missing), (0, 0))),
               "mask": np.pad(np.ones(len(rows), np.float32), (0, missing))}


images = (np.arange(120).reshape(10, PIXELS) % 2).astype(np.float32)
model = Autoencoder()
key = jax.random.key(0)
params = jax.jit(model.init)(key, images[:BATCH], key)
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
state = state.replace(step=jnp.asarray(0, jnp.int32))
step = 0
for epoch in range(2):
    for batch in batches(images):
        beta = np.float32(min(1.0, step / 4))
        state, loss = train_step(state, batch, jax.random.fold_in(key, step), beta)
        step += 1
    print(epoch, float(loss))
