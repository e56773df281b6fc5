# cause: structure
# subject: mode
# old: Mode.TRAIN
# new: Mode.EVALUATE
# advice: fixed | each
# reason: the mode is a static argument, and evaluation leaves the noise out

import enum
import functools

import jax
import jax.numpy as jnp
import numpy as np


class Mode(enum.Enum):
    TRAIN = "train"
    EVALUATE = "evaluate"


@functools.partial(jax.jit, static_argnames=("mode",))
def denoise(params, picture, key, mode):
    if mode is Mode.TRAIN:
        picture = picture + 0.1 * jax.random.normal(key, picture.shape)  # <- cause
    hidden = jax.nn.silu(picture @ params["enter"])
    return hidden @ params["leave"]


rng = np.random.default_rng(3)
params = {"enter": rng.normal(size=(8, 12)).astype(np.float32), "leave": rng.normal(size=(12, 8)).astype(np.float32)}
pictures = np.ones((5, 8), np.float32)
for mode in (Mode.TRAIN, Mode.TRAIN, Mode.EVALUATE):
    denoise(params, pictures, jax.random.key(0), mode=mode)  # <- call
