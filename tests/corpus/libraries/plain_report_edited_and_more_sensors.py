# cause: shape
# subject: readings
# old: f32[6,4]
# new: f32[6,5]
# program: jit_update
# run: write mean
# run: SENSORS=4 track
# run: write max
# run: SENSORS=5 track
# reason: only the report was edited, which no program reads; the sensors come from the environment

import os
import pathlib
import sys

if sys.argv[1] == "write":
    pathlib.Path("filtering.py").write_text(f'''import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def update(state, readings):
    mean, variance = state
    measured = readings.mean(axis=1)
    gain = variance / (variance + readings.var(axis=1) + 1e-3)
    return mean + gain * (measured - mean), (1 - gain) * variance


def report(state):
    mean, variance = (np.asarray(part) for part in state)
    print("mean", mean.{sys.argv[2]}(), "deviation", np.sqrt(variance).{sys.argv[2]}())
''')
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import numpy as np

import filtering

SENSORS = int(os.environ["SENSORS"])


def readings(rng, seconds):
    for _ in range(seconds):
        yield rng.normal(size=(6, SENSORS)).astype(np.float32)


def track(seconds):
    state = (np.zeros(6, np.float32), np.ones(6, np.float32))
    for sample in readings(np.random.default_rng(0), seconds):
        state = filtering.update(state, sample)  # <- cause
    filtering.report(state)


track(4)
