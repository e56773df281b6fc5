# cause: stable
# reason: the guide's first lines: init and apply without jit, layers of several sizes

import flax.linen as nn
import jax
import jax.numpy as jnp


class Autoencoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (12, 6, 12, 16):
            x = nn.gelu(nn.Dense(width)(x))
        return x


model = Autoencoder()
key1, key2 = jax.random.split(jax.random.key(0))
x = jax.random.normal(key1, (4, 16))
params = model.init(key2, x)
print(model.tabulate(key2, x)[:1] != "", jax.tree.map(jnp.shape, params))
print(model.apply(params, x).shape)
