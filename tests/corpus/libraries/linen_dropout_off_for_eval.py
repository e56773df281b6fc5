# cause: structure
# advice: two programs | function for each
# reason: the key goes because the dropout that used it is gone

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(0.3, deterministic=not train)(x)  # <- cause
        return nn.Dense(3)(x)


model = Net()
x = np.ones((4, 6), np.float32)
variables = jax.jit(model.init, static_argnums=2)(jax.random.key(0), x, False)


@functools.partial(jax.jit, static_argnames="train")
def forward(variables, x, key, train):
    return model.apply(variables, x, train, rngs={"dropout": key})


key = jax.random.key(1)
forward(variables, x, key, train=True)
forward(variables, x, key, train=True)
forward(variables, x, key, train=False)  # <- call
