# cause: retrace
# advice: __eq__ | once
# reason: self is static, and each experiment makes a new solver that is equal to no other

import functools

import jax
import jax.numpy as jnp
import numpy as np


class Solver:
    def __init__(self, rate=0.125):
        self.rate = rate

    @functools.partial(jax.jit, static_argnums=0)
    def descend(self, x):
        return x - self.rate * jax.grad(lambda v: jnp.sum(jnp.cosh(v)))(x)


def experiment(start):
    solver = Solver()
    x = np.asarray(start, np.float32)
    for _ in range(2):
        x = solver.descend(x)  # <- cause
    return x


for start in ([1.0, 2.0], [0.5, -1.0], [3.0, 0.0]):
    experiment(start)
