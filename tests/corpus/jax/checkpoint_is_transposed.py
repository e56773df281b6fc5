# program: jit_forward
# cause: shape
# subject: w
# old: f32[8,4]
# new: f32[4,8]
# advice: Transpose it

import jax, jax.numpy as jnp, numpy as np


@jax.jit
def forward(w, x):
    if w.shape[0] != x.shape[1]:
        w = w.T
    return (x @ w).sum()


x = np.ones((2, 8), np.float32)
for i in range(4):
    w = np.ones((8, 4) if i < 2 else (4, 8), np.float32)
    forward(w, x)  # <- cause
