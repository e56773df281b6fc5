# cause: retrace
# old: result['loss']
# new: result['metrics']['loss']
# advice: same containers

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnames="nested")
def step(x, nested):
    loss = (x * 2.0).sum()
    return {"metrics": {"loss": loss}} if nested else {"loss": loss}


x = np.ones(8, np.float32)
step(x, nested=False)
step(x, nested=True)  # <- cause
