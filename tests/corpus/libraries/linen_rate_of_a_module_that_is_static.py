# cause: constant
# subject: model.rate
# old: 0.1
# new: 0.3

import functools
import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn


class Net(nn.Module):
    rate: float = 0.1

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(self.rate, deterministic=False)(x)  # <- cause
        return nn.Dense(1)(x)


@functools.partial(jax.jit, static_argnums=0)
def step(model, params, x, key):
    return model.apply(params, x, rngs={"dropout": key}).mean()


x = np.ones((4, 8), np.float32)
params = Net().init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, x)
for stage, rate in enumerate((0.1, 0.1, 0.3)):
    step(Net(rate), params, x, jax.random.key(stage))  # <- call
