# cause: size
# reason: a masked autoencoder keeps more of the patches in its second stage; how many is a static number

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Autoencoder(nn.Module):
    @nn.compact
    def __call__(self, visible, patches):
        code = nn.gelu(nn.Dense(12)(visible)).mean(axis=1)
        places = self.param("places", nn.initializers.normal(0.02), (patches, 12))
        return nn.Dense(6)(nn.gelu(code[:, None] + places))


model = Autoencoder()
optimizer = optax.adamw(1e-3, weight_decay=0.05)


@functools.partial(jax.jit, static_argnames="ratio")
def train_step(params, opt_state, patches, key, ratio):
    keep = int(patches.shape[1] * (1 - ratio))
    order = jnp.argsort(jax.random.uniform(key, patches.shape[:2]), axis=1)
    kept = order[:, :keep]  # <- cause
    visible = jnp.take_along_axis(patches, kept[:, :, None], axis=1)

    def loss_fn(params):
        rebuilt = model.apply(params, visible, patches.shape[1])
        return jnp.mean((rebuilt - patches) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
patches = rng.normal(size=(4, 8, 6)).astype(np.float32)
init = jax.jit(model.init, static_argnums=2)
params = init(jax.random.key(0), patches[:, :2], 8)
opt_state = jax.jit(optimizer.init)(params)
key = jax.random.key(1)
for ratio in (0.75, 0.75, 0.5, 0.5):
    key, draw = jax.random.split(key)
    params, opt_state, loss = train_step(params, opt_state, patches, draw, ratio=ratio)  # <- call
    print(ratio, float(loss))
