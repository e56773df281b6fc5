# cause: constant
# subject: config.scale
# old: 0.5
# new: 0.25

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass
class Config:
    depth: int = 3
    scale: float = 0.5


def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def attention(config, layer, x):
    scores = (x @ layer["q"]) @ (x @ layer["k"]).T
    scores = scores * config.scale  # <- cause
    return jax.nn.softmax(scores) @ (x @ layer["v"])


def forward(config, layers, x):
    for layer in layers:
        x = x + attention(config, layer, norm(x))
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    return x


def make_step(config):
    def step(layers, x):
        def loss(layers):
            return jnp.mean(forward(config, layers, x) ** 2)
        grads = jax.grad(loss)(layers)
        return jax.tree.map(lambda p, g: p - 0.01 * g, layers, grads)
    return jax.jit(step)


def build(config):
    shapes = {"q": (8, 8), "k": (8, 8), "v": (8, 8), "up": (8, 16), "down": (16, 8)}
    return [{name: np.ones(shape, np.float32) for name, shape in shapes.items()}
            for _ in range(config.depth)]


x = np.ones((4, 8), np.float32)
make_step(Config())(build(Config()), x)
make_step(Config(scale=0.25))(build(Config()), x)  # <- call
