# cause: constant
# old: 2.0
# new: 0.5
# reason: where the loss becomes linear is a static setting

import functools

import jax
import numpy as np
import optax

optimizer = optax.adam(1e-2)


@functools.partial(jax.jit, static_argnames="delta")
def train_step(params, opt_state, x, y, delta):
    def loss_fn(params):
        predicted = x @ params["w"] + params["b"]
        return optax.huber_loss(predicted, y, delta=delta).mean()  # <- cause

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


params = {"w": np.ones((3, 2), np.float32), "b": np.zeros(2, np.float32)}
opt_state = optimizer.init(params)
x, y = np.ones((4, 3), np.float32), np.zeros((4, 2), np.float32)
for delta in (2.0, 0.5):
    params, opt_state, loss = train_step(params, opt_state, x, y, delta=delta)  # <- call
