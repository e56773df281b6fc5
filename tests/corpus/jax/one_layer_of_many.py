# cause: structure
# subject: abs
# old: 1 time
# new: 2 times

import jax
import jax.numpy as jnp
import numpy as np


def block(layer, x, rectified):
    scores = jax.nn.softmax((x @ layer["q"]) @ (x @ layer["k"]).T)
    x = x + scores @ (x @ layer["v"])
    if rectified:
        x = jnp.abs(x)  # <- cause
    return x


def make_step(rectified):
    def step(layers, x):
        for number, layer in enumerate(layers):
            x = block(layer, x, number in rectified)
        return jnp.mean(x)
    return jax.jit(step)


layers = [{name: np.ones((8, 8), np.float32) for name in "qkv"} for _ in range(6)]
x = np.ones((4, 8), np.float32)
make_step({1})(layers, x)
make_step({1, 4})(layers, x)  # <- call
