import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def quantise(x, bits):
    return jnp.round(x * (2.0 ** bits - 1)) / (2.0 ** bits - 1)  # <- cause


def forward(x, bits):
    return quantise(x, bits), None


def backward(bits, _, cotangent):
    return (cotangent,)  # straight through


quantise.defvjp(forward, backward)
