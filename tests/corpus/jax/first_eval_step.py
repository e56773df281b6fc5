# cause: first
# program: jit_eval_step
# reason: another function that looks much like the first is not a recompile of it

import jax
import jax.numpy as jnp
import numpy as np


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


@jax.jit
def train_step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


@jax.jit
def eval_step(w, x):
    return loss(w, x)


w, x = np.ones(4, np.float32), np.ones((8, 4), np.float32)
w = train_step(w, x)
eval_step(w, x)  # <- cause
