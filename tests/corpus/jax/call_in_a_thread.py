# cause: dtype
# subject: x
# old: f32[8]
# new: i32[8]

import threading

import jax
import numpy as np


@jax.jit
def step(x):
    return x * 2 + 1


def work(dtype):
    step(np.ones(8, dtype))  # <- cause


for dtype in (np.float32, np.int32):
    thread = threading.Thread(target=work, args=(dtype,))
    thread.start()
    thread.join()
