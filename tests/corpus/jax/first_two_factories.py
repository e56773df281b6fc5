# cause: first
# reason: make_train.<locals>.step and make_eval.<locals>.step are two functions

import jax
import jax.numpy as jnp
import numpy as np


def make_train():
    @jax.jit
    def step(w, x):
        return w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)

    return step


def make_eval():
    @jax.jit
    def step(w, x):
        return jnp.mean(jnp.tanh(x @ w) ** 2)

    return step


w, x = np.ones(4, np.float32), np.ones((8, 4), np.float32)
w = make_train()(w, x)
make_eval()(w, x)  # <- cause
