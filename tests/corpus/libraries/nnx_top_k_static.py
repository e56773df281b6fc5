# cause: size
# reason: k is a Python number that the call gives

import functools

import jax
import numpy as np
from flax import nnx


class Router(nnx.Module):
    def __init__(self, rngs):
        self.gate = nnx.Linear(6, 8, rngs=rngs)

    def __call__(self, x, k):
        scores = self.gate(x)
        return jax.lax.top_k(scores, k)[0].sum(-1)  # <- cause


@functools.partial(nnx.jit, static_argnames="k")
def route(router, x, k):
    return router(x, k)


router = nnx.jit(Router)(nnx.Rngs(0))
x = np.ones((5, 6), np.float32)
route(router, x, k=2)
route(router, x, k=4)  # <- call
