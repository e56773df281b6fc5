# cause: structure
# advice: remat
# reason: a setting of the trainer puts filter_checkpoint around the blocks

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Block(eqx.Module):
    norm: eqx.nn.LayerNorm
    mlp: eqx.nn.MLP

    def __init__(self, width, key):
        self.norm = eqx.nn.LayerNorm(width)
        self.mlp = eqx.nn.MLP(width, width, 2 * width, 1, activation=jax.nn.gelu, key=key)

    def __call__(self, x):
        return x + self.mlp(self.norm(x))


class Stack(eqx.Module):
    blocks: list

    def __init__(self, depth, width, key):
        self.blocks = [Block(width, one) for one in jax.random.split(key, depth)]


@eqx.filter_jit
def gradients(model, x, save_memory):
    def loss(model):
        y = x
        for block in model.blocks:
            run = eqx.filter_checkpoint(block) if save_memory else block
            y = jax.vmap(run)(y)  # <- cause
        return jnp.mean(y ** 2)

    return eqx.filter_grad(loss)(model)


model = eqx.filter_jit(Stack)(2, 4, jax.random.key(0))
x = np.ones((3, 4), np.float32)
for save_memory in (False, False, True):
    gradients(model, x, save_memory)  # <- call
