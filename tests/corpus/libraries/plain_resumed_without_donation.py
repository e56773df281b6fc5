# cause: donation
# subject: state...
# old: donated
# new: kept
# advice: once
# reason: training donates the state; the resumed training jits the step again and does not

import functools

import jax
import jax.numpy as jnp
import numpy as np


def step(state, x):
    grads = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(state["w"])
    momentum = 0.9 * state["momentum"] + grads
    return {"w": state["w"] - 0.1 * momentum, "momentum": momentum}


def train(state, x):
    donating = jax.jit(step, donate_argnums=0)
    for _ in range(2):
        state = donating(state, x)
    return state


def resume(state, x):
    compiled = jax.jit(step)
    for _ in range(2):
        state = compiled(state, x)  # <- cause
    return state


x = np.ones((4, 3), np.float32)
state = jax.device_put({"w": np.ones(3, np.float32), "momentum": np.zeros(3, np.float32)})
state = train(state, x)
state = resume(state, x)  # <- call
