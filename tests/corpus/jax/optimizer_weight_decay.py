# cause: constant
# subject: optimizer.weight_decay
# old: 0.01
# new: 0.05

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Optimizer:
    rate: float = 0.1
    beta: float = 0.9
    weight_decay: float = 0.01

    def update(self, w, m, grad):
        m = self.beta * m + (1.0 - self.beta) * grad
        decay = self.weight_decay * w  # <- cause
        return w - self.rate * (m + decay), m


def make_step(optimizer):
    def step(w, m, x):
        grad = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
        return optimizer.update(w, m, grad)
    return jax.jit(step)


w, m, x = np.ones(4, np.float32), np.zeros(4, np.float32), np.ones((8, 4), np.float32)
make_step(Optimizer())(w, m, x)
make_step(Optimizer(weight_decay=0.05))(w, m, x)  # <- call
