# cause: structure
# advice: !dtype
# reason: what the module sows is handed out where the caller asks for it; nothing else is computed

import functools

import flax.linen as nn
import jax
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        hidden = nn.relu(nn.Dense(8)(x))
        self.sow("intermediates", "hidden", hidden)
        return nn.Dense(2)(hidden)


model = Net()
x = np.ones((3, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]


@functools.partial(jax.jit, static_argnames="inspect")
def forward(params, x, inspect=False):
    collections = ["intermediates"] if inspect else []
    return model.apply({"params": params}, x, mutable=collections)


forward(params, x)
forward(params, x, inspect=True)  # <- cause
