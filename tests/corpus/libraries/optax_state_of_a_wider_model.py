# cause: shape
# advice: Build all models with the same size
# program: jit_init_fn

import jax
import numpy as np
import optax

optimizer = optax.adam(1e-3)
init = jax.jit(optimizer.init)
for width in (8, 16):
    params = {"kernel": np.ones((4, width), np.float32), "bias": np.ones(width, np.float32)}
    init(params)  # <- cause
