# cause: constant
# reason: more noise is put on the gradients; how much is a number of the optimizer

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Fit:
    def __init__(self, eta):
        self.optimizer = optax.chain(optax.add_noise(eta, 0.5, jax.random.key(7)), optax.sgd(0.125))
        self.update = jax.jit(self.update)

    def update(self, params, state, x, y):
        loss, grads = jax.value_and_grad(self.loss)(params, x, y)
        updates, state = self.optimizer.update(grads, state, params)  # <- cause
        return optax.apply_updates(params, updates), state, loss

    @staticmethod
    def loss(params, x, y):
        return jnp.mean(optax.l2_loss(x @ params, y))


x, y = np.ones((6, 3), np.float32), np.zeros(6, np.float32)
for eta in (0.25, 1.0):
    fit = Fit(eta)
    params = np.ones(3, np.float32)
    state = fit.optimizer.init(params)
    for _ in range(3):
        params, state, loss = fit.update(params, state, x, y)  # <- call
