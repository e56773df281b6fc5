# cause: dtype
# subject: params['mlp/~/linear_0']['b']
# old: f32[6]
# new: f16[6]
# advice: astype | asarray | param_dtype
# reason: the checkpoint was written in half precision to save space; all of its arrays are of that type

import pathlib
import tempfile

import jax
import numpy as np

import checkpoints
from network import init, update

x, y = np.ones((4, 3), np.float32), np.ones((4, 1), np.float32)
path = pathlib.Path(tempfile.mkdtemp()) / "params.pickle"


def train(params, steps):
    for _ in range(steps):
        params = update(params, x, y)  # <- cause
    return params


params = train(init(jax.random.key(0), x), 2)
checkpoints.save(path, params)
params = train(checkpoints.load(path), 1)  # <- call
