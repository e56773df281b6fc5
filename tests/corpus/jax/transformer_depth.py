# cause: arguments
# subject: layers[2]['k']
# old: absent
# new: f32[8,8]

import jax
import jax.numpy as jnp
import numpy as np


def block(layer, x):
    scores = jax.nn.softmax((x @ layer["q"]) @ (x @ layer["k"]).T)
    return x + scores @ (x @ layer["v"])


@jax.jit
def step(layers, x):
    def loss(layers):
        y = x
        for layer in layers:
            y = block(layer, y)
        return jnp.mean(y ** 2)
    return jax.tree.map(lambda p, g: p - 0.01 * g, layers, jax.grad(loss)(layers))


def build(depth):
    return [{name: np.ones((8, 8), np.float32) for name in "qkv"} for _ in range(depth)]


x = np.ones((4, 8), np.float32)
step(build(2), x)
step(build(3), x)  # <- cause
