# cause: retrace
# advice: default
# reason: a static argument left to its default and the same value given by name are two calls for jit

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames=("train",))
def forward(params, x, train=False):
    hidden = jnp.tanh(x @ params["w"])
    return hidden * 0.5 if train else hidden


params = {"w": np.ones((4, 3), np.float32)}
x = np.ones((2, 4), np.float32)


def validate():
    return forward(params, x)


def serve():
    return forward(params, x, train=False)  # <- cause


for _ in range(2):
    validate()
serve()  # <- call
