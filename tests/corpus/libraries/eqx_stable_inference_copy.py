# cause: stable
# reason: the copy for inference has a function of its own

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Net(eqx.Module):
    mlp: eqx.nn.MLP
    dropout: eqx.nn.Dropout

    def __call__(self, x, key=None):
        return self.dropout(self.mlp(x), key=key)


@eqx.filter_jit
def train_loss(model, x, key):
    keys = jax.random.split(key, x.shape[0])
    return jnp.mean(jax.vmap(model)(x, keys) ** 2)


@eqx.filter_jit
def predict(model, x):
    return jax.vmap(model)(x)


model = Net(eqx.nn.MLP(3, 3, 8, 2, key=jax.random.key(0)), eqx.nn.Dropout(0.1))
x = np.ones((4, 3), np.float32)
for epoch in range(2):
    for step in range(2):
        train_loss(model, x, jax.random.key(step))
    predict(eqx.nn.inference_mode(model), x)
