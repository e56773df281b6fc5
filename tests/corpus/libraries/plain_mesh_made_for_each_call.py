# cause: retrace
# advice: Set it once
# reason: jit compares the mesh of the surrounding with-block, also for a program that shards nothing

import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

warnings.simplefilter("ignore")


@jax.jit
def loss(params, x):
    return jnp.mean((x @ params["w"]) ** 2)


params = {"w": np.ones((4, 3), np.float32)}
x = np.ones((2, 4), np.float32)
for axis in ("data", "batch"):
    with Mesh(np.array(jax.devices()[:1]), (axis,)):
        loss(params, x)  # <- cause
