# cause: retrace
# advice: __eq__
# reason: the settings of a request are static, and an object of this class is equal to no other

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Settings:
    def __init__(self, temperature=0.5, top=3):
        self.temperature = temperature
        self.top = top


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(6)(x)


model = Model()
x = np.ones((2, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@functools.partial(jax.jit, static_argnames=["settings"])
def best(params, x, settings):
    logits = model.apply(params, x) / settings.temperature
    return jax.lax.top_k(logits, settings.top)


def serve(request):
    return best(params, request, settings=Settings(top=2))  # <- cause


for _ in range(3):
    serve(x)  # <- call
