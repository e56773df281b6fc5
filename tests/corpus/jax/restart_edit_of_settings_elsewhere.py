# cause: constant
# subject: multiply
# old: 0.1
# new: 0.02
# run: 0.1
# run: 0.02

# The settings that were edited are read by other functions.

import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path("other_settings")
FOLDER.mkdir(exist_ok=True)
(FOLDER / "other_conf.py").write_text(f"LOG_EVERY = {sys.argv[1]} * 100\n")
(FOLDER / "other_model.py").write_text("""
import jax
import jax.numpy as jnp

import other_conf


def report(step):
    if step % other_conf.LOG_EVERY == 0:
        print(step)


def make_step(rate):
    @jax.jit
    def step(w, x):
        slope = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - rate * slope

    return step
""")
sys.path.insert(0, str(FOLDER.resolve()))
import other_model  # noqa: E402

step = other_model.make_step(float(sys.argv[1]))
step(np.ones((4, 4), np.float32), np.ones((8, 4), np.float32))
