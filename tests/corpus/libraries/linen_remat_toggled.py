# cause: structure
# advice: !jnp.where

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(8)(jnp.sin(nn.Dense(8)(x)))


class Stack(nn.Module):
    remat: bool = False

    @nn.compact
    def __call__(self, x):
        block = nn.remat(Block) if self.remat else Block
        for index in range(2):
            x = block(name=f"block{index}")(x)  # <- cause
        return x


x = np.ones((4, 8), np.float32)
params = jax.jit(Stack().init)(jax.random.key(0), x)


def gradients(model):
    @jax.jit
    def backward(params, x):
        return jax.grad(lambda p: jnp.sum(model.apply(p, x)))(params)

    return backward(params, x)  # <- call


gradients(Stack())
gradients(Stack(remat=True))
