# cause: stable
# reason: the rate is a hyperparameter in the state, set to arrays of one dtype

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.inject_hyperparams(optax.adamw)(learning_rate=jnp.asarray(1e-2, jnp.float32),
                                                  weight_decay=jnp.asarray(1e-4, jnp.float32))


def predict(params, x):
    return jnp.tanh(x @ params["a"]) @ params["b"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


validate = jax.jit(loss_fn)


def halved(opt_state):
    rate = opt_state.hyperparams["learning_rate"]
    opt_state.hyperparams["learning_rate"] = jnp.asarray(np.asarray(rate) / 2, jnp.float32)
    return opt_state


rng = np.random.default_rng(0)
params = jax.device_put({"a": rng.normal(size=(3, 5)).astype(np.float32),
                         "b": rng.normal(size=(5, 1)).astype(np.float32)})
opt_state = jax.jit(optimizer.init)(params)
best = np.inf
for epoch in range(4):
    x = rng.normal(size=(6, 3)).astype(np.float32)
    params, opt_state = train_step(params, opt_state, x, x[:, :1])
    error = float(validate(params, x, x[:, :1]))
    if error > 0.9 * best:
        opt_state = halved(opt_state)
    best = min(best, error)
print(best)
