# cause: stable
# run: step
# run: iteration
# reason: only the function that prints is edited between the runs, below the jitted one

import pathlib
import sys

import equinox as eqx
import jax
import numpy as np

FILE = pathlib.Path("logged_training.py")
FILE.write_text(f"""
import equinox as eqx
import jax
import jax.numpy as jnp


@eqx.filter_jit
def train_step(model, x):
    loss, grads = eqx.filter_value_and_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2))(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads)), loss


def log(step, loss):
    print("{sys.argv[1]}", step, "loss", float(loss))
""")
sys.path.insert(0, str(FILE.resolve().parent))
import logged_training  # noqa: E402

model = eqx.nn.MLP(4, 1, 8, 1, key=jax.random.key(0))
x = np.ones((6, 4), np.float32)
for step in range(3):
    model, loss = logged_training.train_step(model, x)
    logged_training.log(step, loss)
