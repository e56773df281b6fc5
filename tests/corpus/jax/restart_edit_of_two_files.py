# cause: edit
# subject: WIDTH
# old: WIDTH = 8
# new: WIDTH = 16
# run: 8 2.0
# run: 16 3.0

import pathlib
import sys

FOLDER = pathlib.Path("edited_together")
FOLDER.mkdir(exist_ok=True)
(FOLDER / "two_settings.py").write_text(f"\nWIDTH = {sys.argv[1]}\n")
(FOLDER / "two_layers.py").write_text(f"""
import jax.numpy as jnp

import two_settings

SCALE = {sys.argv[2]}


def init():
    return jnp.ones((two_settings.WIDTH, two_settings.WIDTH))


def apply(w, x):
    return jnp.tanh(x @ w) * SCALE
""")
(FOLDER / "two_train.py").write_text("""
import jax
import numpy as np

import two_layers
import two_settings


@jax.jit
def step(w, x):
    return two_layers.apply(w, x).sum()


def main():
    step(two_layers.init(), np.ones((4, two_settings.WIDTH), np.float32))
""")
sys.path.insert(0, str(FOLDER.resolve()))
import two_train  # noqa: E402

two_train.main()
