# cause: shape
# subject: batch['tokens']
# old: f32[8,4]
# new: f32[5,4]
# reason: a library jits the user's function and hands its arguments on by number

import pathlib
import sys

import jax.numpy as jnp

sys.path.insert(0, str(pathlib.Path(__file__).parent / "site-packages"))
from filters import filter_jit  # noqa: E402


@filter_jit
def step(model, batch, *, rate):
    hidden = jnp.tanh(batch["tokens"] @ model["w"])
    return rate * hidden.sum()


def train(model, sizes):
    for size in sizes:
        batch = {"tokens": jnp.ones((size, 4)), "mask": jnp.ones(3)}
        step(model, batch, rate=jnp.float32(2))  # <- cause


train({"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}, (8, 8, 5))  # <- call
