# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[5,4]
# reason: the edited function and name only take what the step gave; the comment is none of the code
# run: 8 loss
# run: 5 mean_loss

import pathlib
import sys

BATCH, NAME = sys.argv[1:]
FILE = pathlib.Path("edited_model.py")
FILE.write_text(f'''
"""Trains, and reports the {NAME}."""
import jax
import jax.numpy as jnp
import numpy as np

NAME = "{NAME}"


def report(loss):
    print(NAME, "is", loss, "{NAME}")


def spare(x):
    return jnp.cos(x) * len("{NAME}")


@jax.jit
def step(w, x):
    return jnp.tanh(x @ w).sum()


def train(batch):
    w = np.ones((4, 4), np.float32)
    report(step(w, np.ones((batch, 4), np.float32)))  # {NAME}
''')
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.train(int(BATCH))
