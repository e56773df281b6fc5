# cause: donation
# old: donated
# new: kept
# reason: training donates its state; the timing at the end jits the same step again and keeps it

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-3)


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["in"])
    return jnp.mean((hidden @ params["out"] - y) ** 2)


def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def train(params, opt_state, batches):
    step = jax.jit(train_step, donate_argnums=(0, 1))
    for x, y in batches:
        params, opt_state, loss = step(params, opt_state, x, y)
    print("loss", float(loss))
    return params, opt_state


def seconds_of_a_step(params, opt_state, x, y, repeats=3):
    step = jax.jit(train_step)
    jax.block_until_ready(step(params, opt_state, x, y))  # <- cause
    started = time.perf_counter()
    for _ in range(repeats):
        jax.block_until_ready(step(params, opt_state, x, y))
    return (time.perf_counter() - started) / repeats


rng = np.random.default_rng(0)
batches = [(rng.normal(size=(8, 3)).astype(np.float32), np.ones((8, 2), np.float32)) for _ in range(3)]
params = {"in": jnp.ones((3, 6)), "out": jnp.ones((6, 2))}
params, opt_state = train(params, optimizer.init(params), batches)
print("seconds", seconds_of_a_step(params, opt_state, *batches[0]))  # <- call
