# cause: constant
# subject: Settings.rate
# old: 0.5
# new: 0.25
# advice: array argument
# reason: a class serves as a namespace of settings, and the rate in it is halved between the phases

import jax
import jax.numpy as jnp
import numpy as np


class Settings:
    rate = 0.5
    momentum = 0.75
    phases = 2


def make_step():
    @jax.jit
    def step(w, velocity, x):
        grad = jax.grad(lambda w: jnp.mean((x @ w - 1) ** 2))(w)
        velocity = Settings.momentum * velocity - Settings.rate * grad  # <- cause
        return w + velocity, velocity

    return step


w, velocity, x = np.zeros(4, np.float32), np.zeros(4, np.float32), np.eye(4, dtype=np.float32)[:3]
for phase in range(Settings.phases):
    step = make_step()
    for _ in range(2):
        w, velocity = step(w, velocity, x)  # <- call
    Settings.rate /= 2
