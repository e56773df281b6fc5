# cause: constant
# old: 2.5
# new: 1.5
# reason: the exponent of the focal loss is closed over; its derivative has one less

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


def make_update(gamma):
    @jax.jit
    def update(params, opt_state, x, labels):
        def loss_fn(params):
            logits = x @ params
            return optax.sigmoid_focal_loss(logits, labels, alpha=0.25, gamma=gamma).mean()  # <- cause

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return update


x, labels = np.ones((6, 3), np.float32), np.ones((6, 2), np.float32)
params = jnp.zeros((3, 2))
opt_state = optimizer.init(params)
for gamma in (2.5, 1.5):
    params, opt_state, loss = make_update(gamma)(params, opt_state, x, labels)  # <- call
