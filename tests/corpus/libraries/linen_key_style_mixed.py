# cause: dtype
# subject: key
# reason: a key of the new style has a type of its own, one of the old style is two words

import flax.linen as nn
import jax
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(8)(x)
        x = nn.Dropout(0.5, deterministic=False)(x)
        return nn.Dense(2)(x)


model = Net()
x = np.ones((4, 6), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]


@jax.jit
def sample(params, x, key):
    return model.apply({"params": params}, x, rngs={"dropout": key})


keys = jax.random.key(1), jax.random.PRNGKey(2)
for key in keys:
    sample(params, x, key)  # <- cause
