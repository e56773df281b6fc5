# program: jit_train
# cause: constant
# subject: self.weights['kl']
# old: 0.1
# new: 0.2

import jax, jax.numpy as jnp, numpy as np


class Trainer:
    def __init__(self, weights):
        self.weights = weights
        self.step = jax.jit(self.train)

    def _loss(self, w, x):
        z = jnp.tanh(x @ w)
        recon, kl = ((z @ w.T - x) ** 2).mean(), (z ** 2).mean()
        return self.weights["recon"] * recon + self.weights["kl"] * kl  # <- cause

    def train(self, w, x):
        return w - 0.1 * jax.grad(self._loss)(w, x)


w, x = np.ones((8, 4), np.float32), np.ones((2, 8), np.float32)
for kl in (0.1, 0.2):
    trainer = Trainer({"recon": 1.0, "kl": kl})
    w = trainer.step(trainer.step(w, x), x)  # <- call
