# cause: constant
# old: -0.2
# new: -0.02
# reason: each phase builds its optimizer, which scales by minus the rate, and jits a step anew

import jax
import jax.numpy as jnp
import numpy as np
import optax


def predict(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def make_step(tx):
    @jax.jit
    def train_step(params, opt_state, x, y):
        grads = jax.grad(lambda p: jnp.mean((predict(p, x) - y) ** 2))(params)
        updates, opt_state = tx.update(grads, opt_state, params)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    return train_step


PHASES = [("warm", 0.2), ("tune", 0.02)]
rng = np.random.default_rng(0)
params = {"w": rng.normal(size=(5, 9)).astype(np.float32),
          "v": rng.normal(size=(9, 1)).astype(np.float32)}
x = rng.normal(size=(12, 5)).astype(np.float32)
y = x.sum(1, keepdims=True)
for name, rate in PHASES:
    tx = optax.sgd(rate)
    train_step = make_step(tx)
    opt_state = tx.init(params)
    for _ in range(3):
        params, opt_state = train_step(params, opt_state, x, y)  # <- call
    print(name, float(jnp.mean((predict(params, x) - y) ** 2)))
