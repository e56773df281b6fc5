# cause: constant
# reason: the bound of a custom gradient is an argument that is not differentiated, a Python number; both of its signs are baked in. In a scan JAX gives what it computes the line of the function

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def clipped(x, bound):
    return x


def clipped_forward(x, bound):
    return x, None


def clipped_backward(bound, _, cotangent):
    return (jnp.clip(cotangent, -bound, bound),)


clipped.defvjp(clipped_forward, clipped_backward)


class Recurrent:
    def __init__(self, bound):
        self.bound = bound
        self.gradient = jax.jit(self._gradient)

    def loss(self, params, xs):
        def cell(h, x):
            h = clipped(jnp.tanh(params["h"] * h + params["x"] * x), self.bound)  # <- cause
            return h, h

        return jnp.sum(jax.lax.scan(cell, jnp.zeros(()), xs)[1] ** 2)

    def _gradient(self, params, xs):
        return jax.grad(self.loss)(params, xs)


params, xs = {"h": np.float32(0.5), "x": np.float32(1.0)}, np.ones(6, np.float32)
for bound in (1.0, 0.25):
    model = Recurrent(bound)
    for _ in range(2):
        model.gradient(params, xs)  # <- call
