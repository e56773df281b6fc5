# cause: stable
# reason: cells of IPython, one of them run again as it is

from IPython.core.interactiveshell import InteractiveShell

CELLS = ["""
import jax, jax.numpy as jnp, numpy as np, optax
import flax.linen as nn
""", """
model = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(2)])
x = np.ones((3, 4), np.float32)
params = model.init(jax.random.key(0), x)
""", """
@jax.jit
def train_step(params, x):
    grads = jax.grad(lambda p: jnp.mean(model.apply(p, x) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
""", """
for _ in range(2):
    params = train_step(params, x)
""", """
for _ in range(2):
    params = train_step(params, x)
""", """
jax.tree.map(jnp.shape, params)
"""]

shell = InteractiveShell.instance()
for cell in CELLS:
    shell.run_cell(cell, store_history=True).raise_error()
