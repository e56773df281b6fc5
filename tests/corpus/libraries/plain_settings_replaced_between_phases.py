# cause: constant
# subject: self.rate
# old: 0.5
# new: 0.125
# advice: array
# reason: the trainer is static and its rate of learning is replaced for the second phase

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Trainer:
    rate: float

    def loss(self, w, x):
        return jnp.mean(jnp.abs(x @ w))

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, w, x):
        return w - self.rate * jax.grad(self.loss)(w, x)  # <- cause

    def run(self, w, x):
        for _ in range(2):
            w = self.step(w, x)  # <- call
        return w


coarse = Trainer(0.5)
fine = dataclasses.replace(coarse, rate=0.125)
w, x = np.ones(3, np.float32), np.ones((4, 3), np.float32)
for trainer in (coarse, fine):
    w = trainer.run(w, x)
