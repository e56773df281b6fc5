# cause: constant
# subject: multiply
# old: 0.5
# new: 0.125
# reason: a cell is edited and run again; its line is the line of the cell

import linecache

CELLS = ["""
import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn
model = nn.Dense(2)
x = np.ones((3, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)
""", """
@jax.jit
def loss(params, x):
    return 0.5 * jnp.sum(model.apply(params, x) ** 2)
loss(params, x)
""", """
@jax.jit
def loss(params, x):
    return 0.125 * jnp.sum(model.apply(params, x) ** 2)
loss(params, x)
"""]

space = {"__name__": "__main__"}
for number, cell in enumerate(CELLS, 1):
    name = f"<ipython-input-{number}-0123456789ab>"
    linecache.cache[name] = len(cell), None, cell.splitlines(True), name
    exec(compile(cell, name, "exec"), space)
