# cause: none
# run: --epochs 1
# run: --epochs 2

import sys

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.tanh(x) * 0.5


x = np.ones(8, np.float32)
for _ in range(int(sys.argv[2])):
    x = step(x)
