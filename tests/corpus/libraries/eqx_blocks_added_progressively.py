# cause: structure
# subject: depth
# old: 2
# new: 3
# reason: a stage of training has one block more; the weights of all blocks are passed in every stage

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Stack(eqx.Module):
    embed: eqx.nn.Linear
    blocks: list
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 6)
        self.embed = eqx.nn.Linear(6, 12, key=keys[0])
        self.blocks = [eqx.nn.Linear(12, 12, key=k) for k in keys[1:5]]
        self.head = eqx.nn.Linear(12, 2, key=keys[5])

    def __call__(self, x, depth):
        x = self.embed(x)
        for block in self.blocks[:depth]:
            x = x + jnp.tanh(block(x))  # <- cause
        return self.head(x)


@eqx.filter_jit
def predict(model, x, depth):
    return jax.vmap(model, in_axes=(0, None))(x, depth)


model = eqx.filter_jit(Stack)(jax.random.key(0))
x = np.random.default_rng(0).normal(size=(7, 6)).astype(np.float32)
for stage in range(2):
    depth = 2 + stage
    for _ in range(2):
        y = predict(model, x, depth)  # <- call
    print(stage, np.asarray(y).mean())
