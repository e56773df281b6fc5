# cause: edit
# subject: WIDTH
# old: WIDTH = 8
# new: WIDTH = 12
# run: 8
# run: 12

import pathlib
import sys

FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""
import jax
import jax.numpy as jnp
import numpy as np

WIDTH = {sys.argv[1]}


def make(width):
    return {{"a": np.ones((4, width), np.float32), "b": np.ones((width, 1), np.float32)}}


@jax.jit
def step(parameters, x):
    return (jnp.tanh(x @ parameters["a"]) @ parameters["b"]).sum()


def train():
    parameters = make(WIDTH)
    for _ in range(2):
        step(parameters, np.ones((16, 4), np.float32))
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.train()
