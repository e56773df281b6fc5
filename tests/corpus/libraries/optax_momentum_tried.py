# cause: arguments
# subject: opt_state[0].trace['b']
# old: absent
# new: f32[2]
# program: jit_update
# reason: without momentum the optimizer has no state

import jax
import jax.numpy as jnp
import numpy as np
import optax


def train(optimizer, params, x, y):
    @jax.jit
    def update(params, opt_state, x, y):
        def loss_fn(params):
            return optax.l2_loss(jnp.tanh(x @ params["w"] + params["b"]), y).mean()

        updates, opt_state = optimizer.update(jax.grad(loss_fn)(params), opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    opt_state = optimizer.init(params)
    for _ in range(2):
        params, opt_state = update(params, opt_state, x, y)  # <- cause
    return params


params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
x, y = np.ones((4, 3), np.float32), np.zeros((4, 2), np.float32)
for momentum in (None, 0.9):
    train(optax.sgd(0.1, momentum=momentum), params, x, y)
