# cause: nested_jit
# subject: loss_fn
# old: part of its caller
# new: a jit of its own
# reason: the loss was jitted for a plot of it, and is then differentiated in the step as well

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adamw(1e-2)


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    predicted = hidden @ params["w2"]
    return jnp.mean(optax.l2_loss(predicted, y))


def make_step(loss):
    @jax.jit
    def step(params, opt_state, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)  # <- cause
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value

    return step


params = {"w1": np.ones((3, 6), np.float32), "b1": np.zeros(6, np.float32),
          "w2": np.ones((6, 2), np.float32)}
opt_state = jax.jit(optimizer.init)(params)
x, y = np.ones((8, 3), np.float32), np.zeros((8, 2), np.float32)
step = make_step(loss_fn)
for _ in range(2):
    params, opt_state, value = step(params, opt_state, x, y)
step = make_step(jax.jit(loss_fn))
for _ in range(2):
    params, opt_state, value = step(params, opt_state, x, y)  # <- call
