# cause: retrace
# advice: once
# program: jit_step
# reason: each fold defines its step anew; the programs are the same

import jax
import jax.numpy as jnp
import numpy as np
import optax


def predict(params, x):
    return jnp.tanh(x @ params["w"]) + params["b"]


def train_fold(x, y, steps=3):
    optimizer = optax.adam(0.01)
    params = {"w": np.ones(3, np.float32), "b": np.zeros((), np.float32)}
    opt_state = jax.jit(optimizer.init)(params)

    @jax.jit
    def step(params, opt_state, x, y):
        grads = jax.grad(lambda params: optax.l2_loss(predict(params, x), y).mean())(params)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    for _ in range(steps):
        params, opt_state = step(params, opt_state, x, y)  # <- cause
    return params


rows = np.arange(36, dtype=np.float32).reshape(12, 3) / 36
for fold in range(3):
    keep = np.arange(12) % 3 != fold
    train_fold(rows[keep], rows[keep].sum(1))  # <- call
