# cause: shape
# subject: params['blocks']['Dense_0']['bias']
# old: f32[2,8]
# new: f32[3,8]
# program: jit__lambda

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return x + jnp.tanh(nn.Dense(8)(x)), None


class Stack(nn.Module):
    depth: int

    @nn.compact
    def __call__(self, x):
        scanned = nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True},
                          length=self.depth)
        return scanned(name="blocks")(x, None)[0]


def score(depth):
    model = Stack(depth)
    params = jax.jit(model.init)(jax.random.key(0), x)["params"]
    forward = jax.jit(lambda params, x: model.apply({"params": params}, x).sum())
    return forward(params, x)  # <- cause


x = np.ones((4, 8), np.float32)
score(2)
score(3)
