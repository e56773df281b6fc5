# cause: constant
# subject: multiply
# old: 0.25
# new: 0.5
# program: jit_train_step
# run: 0.25
# run: 0.5
# reason: the weight decay is read from a file of settings that was changed between the runs

import json
import pathlib
import sys

import equinox as eqx
import jax
import numpy as np

from settings import Settings
from training import make_train_step

path = pathlib.Path("settings.json")
path.write_text(json.dumps({"rate": 0.1, "penalty": float(sys.argv[1])}))
settings = Settings.read(path)

model = eqx.nn.Linear(4, 2, key=jax.random.key(0))
train_step = make_train_step(settings)
x, y = np.ones((6, 4), np.float32), np.ones((6, 2), np.float32)
for _ in range(3):
    model, loss = train_step(model, x, y)  # <- call
