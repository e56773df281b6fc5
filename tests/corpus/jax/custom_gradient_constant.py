# cause: constant
# subject: factor
# old: 2.0
# new: 4.0
# reason: JAX gives what a custom gradient computes the line that asked for the gradient

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def scaled(x, factor):
    return jnp.sin(x)


def forward(x, factor):
    return jnp.sin(x), x


def backward(factor, x, grad):
    return (grad * factor,)


scaled.defvjp(forward, backward)


def make_step(factor):
    def step(w, x):
        return jax.grad(lambda w: jnp.sum(scaled(x * w, factor)))(w)  # <- cause
    return jax.jit(step)


w = x = np.ones(8, np.float32)
make_step(2.0)(w, x)
make_step(4.0)(w, x)  # <- call
