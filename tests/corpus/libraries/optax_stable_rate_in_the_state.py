# cause: stable
# reason: the rate is part of the optimizer's state, the average exists from the start, the state is donated

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.inject_hyperparams(optax.adamw)(learning_rate=1e-2, weight_decay=1e-4)


def forward(params, x):
    hidden = jax.nn.gelu(x @ params["in"]["w"] + params["in"]["b"])
    return hidden @ params["out"]["w"] + params["out"]["b"]


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(params, opt_state, average, x, y):
    loss, grads = jax.value_and_grad(lambda p: optax.huber_loss(forward(p, x), y).mean())(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    average = optax.incremental_update(params, average, 0.1)
    return params, opt_state, average, loss


@jax.jit
def evaluate(params, x, y):
    return optax.huber_loss(forward(params, x), y).mean()


@jax.jit
def init(key):
    one, two = jax.random.split(key)
    params = {"in": {"w": jax.random.normal(one, (4, 8)) / 2, "b": jnp.zeros(8)},
              "out": {"w": jax.random.normal(two, (8, 1)) / 3, "b": jnp.zeros(1)}}
    return params, optimizer.init(params), jax.tree.map(jnp.copy, params)


rng = np.random.default_rng(0)
params, opt_state, average = init(jax.random.key(0))
x = rng.normal(size=(32, 4)).astype(np.float32)
y = np.abs(x).sum(1, keepdims=True)
best, patience = np.inf, 0
for epoch in range(5):
    for start in range(0, 24, 8):
        params, opt_state, average, loss = train_step(
            params, opt_state, average, x[start:start + 8], y[start:start + 8])
    score = float(evaluate(average, x[24:], y[24:]))
    patience = 0 if score < best else patience + 1
    best = min(best, score)
    if patience > 1 or epoch == 2:
        rate = opt_state.hyperparams["learning_rate"]
        opt_state.hyperparams["learning_rate"] = jnp.asarray(0.5 * rate, jnp.float32)
    print(epoch, float(loss), score)
