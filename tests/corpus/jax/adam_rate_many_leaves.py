# cause: constant
# subject: rate
# old: 0.01
# new: 0.02

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, x):
    for layer in params:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean(x ** 2)


def adam(rate, p, m, v):
    change = m / (jnp.sqrt(v) + 1e-8)
    return p - rate * change  # <- cause


def make_step(rate):
    def step(params, m, v, x):
        grads = jax.grad(loss)(params, x)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
        return jax.tree.map(lambda p, m, v: adam(rate, p, m, v), params, m, v), m, v
    return jax.jit(step)


params = [{"w": np.ones((4, 4), np.float32), "b": np.ones(4, np.float32)} for _ in range(4)]
x = np.ones((2, 4), np.float32)
make_step(0.01)(params, params, params, x)
make_step(0.02)(params, params, params, x)  # <- call
