# cause: unrelated
# program: jit_loss
# reason: forward and backward pass have one name; neither is a recompile of the other

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def loss(w, x):
    return (jnp.tanh(x @ w) ** 2).mean()


w, x = np.ones((8, 2), np.float32), np.ones((4, 8), np.float32)
jax.grad(loss)(w, x)
