# cause: stable
# reason: cells of a notebook, compiled under names that no file has

import linecache

CELLS = ["""
import equinox as eqx, jax, numpy as np
model = eqx.nn.MLP(4, 1, 8, 2, key=jax.random.key(0))
""", """
@eqx.filter_jit
def predict(model, x):
    return jax.vmap(model)(x)
""", """
predict(model, np.ones((2, 4), np.float32))
""", """
predict(model, np.zeros((2, 4), np.float32)).sum()
"""]

space = {"__name__": "__main__"}
for number, cell in enumerate(CELLS, 1):
    name = f"/any/ipykernel_77/{number:010d}.py"
    linecache.cache[name] = len(cell), None, cell.splitlines(True), name
    exec(compile(cell, name, "exec"), space)
