# cause: dtype
# subject: x
# old: f32[4,3]
# new: f64[4,3]
# program: jit_forward
# run: JAX_ENABLE_X64=0
# run: JAX_ENABLE_X64=1
# reason: the second run is started with x64, so NumPy's float64 stays as it is

import flax.linen as nn
import jax
import numpy as np

model = nn.Dense(2)
x = np.linspace(0, 1, 12).reshape(4, 3)
params = jax.tree.map(
    lambda p: np.asarray(p, np.float32), jax.jit(model.init)(jax.random.key(0), np.ones((4, 3), np.float32)))


@jax.jit
def forward(params, x):
    return model.apply(params, x)


forward(params, x)  # <- cause
