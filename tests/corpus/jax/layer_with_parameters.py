# cause: arguments
# subject: params[2]['b']
# old: absent
# new: f32[4]

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, x):
    for layer in params:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean(x ** 2)


@jax.jit
def step(params, x):
    grads = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def build(depth):
    return [{"w": np.ones((4, 4), np.float32), "b": np.zeros(4, np.float32)}
            for _ in range(depth)]


x = np.ones((2, 4), np.float32)
step(build(2), x)
step(build(3), x)  # <- cause
