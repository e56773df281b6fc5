# cause: shape
# subject: batch['x']
# old: f32[4,6,8]
# new: f32[3,6,8]

import jax
import jax.numpy as jnp
import numpy as np


def block(layer, x):
    scores = jnp.einsum("bqd,bkd->bqk", x @ layer["q"], x @ layer["k"])
    x = x + jax.nn.softmax(scores) @ (x @ layer["v"])
    return x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]


def loss(layers, batch):
    x = batch["x"]
    for layer in layers:
        x = block(layer, x)
    return jnp.mean(x ** 2)


@jax.jit
def step(state, batch):
    value, grads = jax.value_and_grad(loss)(state["layers"], batch)
    moments = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    layers = jax.tree.map(lambda p, m: p - 0.01 * m, state["layers"], moments)
    return {"layers": layers, "m": moments}, value


shapes = {"q": (8, 8), "k": (8, 8), "v": (8, 8), "up": (8, 16), "down": (16, 8)}
layers = [{name: np.ones(shape, np.float32) for name, shape in shapes.items()} for _ in range(2)]
state = {"layers": layers, "m": layers}
for rows in (4, 4, 3):
    state, _ = step(state, {"x": np.ones((rows, 6, 8), np.float32)})  # <- cause
