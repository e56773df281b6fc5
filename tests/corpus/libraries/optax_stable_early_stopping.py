# cause: stable
# reason: the host decides when to stop and which parameters to keep; the short batch is padded and masked

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 3, 20)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))


def loss_fn(params, x, y, mask):
    error = (jnp.tanh(x @ params["w"]) + params["b"] - y) ** 2
    return jnp.sum(error * mask) / jnp.sum(mask)


@jax.jit
def train_step(params, opt_state, x, y, mask):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y, mask)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


validate = jax.jit(functools.partial(loss_fn))


def batches(x, y, size):
    for start in range(0, len(x), size):
        rows = x[start : start + size]
        missing = size - len(rows)
        mask = np.pad(np.ones(len(rows), np.float32), (0, missing))
        yield (np.pad(rows, ((0, missing), (0, 0))),
               np.pad(y[start : start + size], (0, missing)), mask)


random = np.random.default_rng(0)
x = random.normal(size=(14, 3)).astype(np.float32)
y = x.sum(1)
params = {"w": np.zeros(3, np.float32), "b": np.zeros((), np.float32)}
opt_state = jax.jit(optimizer.init)(params)
best, patience = np.inf, 2
for epoch in range(6):
    for batch in batches(x, y, 4):
        params, opt_state, loss = train_step(params, opt_state, *batch)
    figure = float(validate(params, x, y, np.ones(14, np.float32)))
    if figure < best:
        best, kept, patience = figure, jax.tree.map(np.asarray, params), 2
    else:
        patience -= 1
        if not patience:
            break
train_step(kept, opt_state, *next(batches(x, y, 4)))
