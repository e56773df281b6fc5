# cause: structure
# old: 1 times
# new: 3 times
# advice: fori_loop | scan
# reason: a task is adapted to with one step while training and with three in the test

import functools

import jax
import jax.numpy as jnp
import numpy as np

INNER_RATE = 0.05


def forward(params, x):
    return jnp.tanh(x @ params["a"] + params["b"]) @ params["c"]


def squared_error(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


def inner_update(params, x, y):
    grads = jax.grad(squared_error)(params, x, y)
    return jax.tree.map(lambda p, g: p - INNER_RATE * g, params, grads)


@functools.partial(jax.jit, static_argnames=("inner_steps",))
def adapted_loss(params, task, inner_steps):
    fast = params
    for _ in range(inner_steps):
        fast = inner_update(fast, task["support_x"], task["support_y"])  # <- cause
    return squared_error(fast, task["query_x"], task["query_y"])


@jax.jit
def meta_step(params, task):
    def outer(params):
        fast = inner_update(params, task["support_x"], task["support_y"])
        return squared_error(fast, task["query_x"], task["query_y"])

    return jax.tree.map(lambda p, g: p - 0.01 * g, params, jax.grad(outer)(params))


def sines(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        phase = rng.uniform(0, np.pi)
        xs = rng.uniform(-3, 3, size=(2, 10, 1)).astype(np.float32)
        ys = np.sin(xs + phase).astype(np.float32)
        yield {"support_x": xs[0], "support_y": ys[0], "query_x": xs[1], "query_y": ys[1]}


params = {"a": np.full((1, 8), 0.3, np.float32), "b": np.zeros(8, np.float32), "c": np.full((8, 1), 0.1, np.float32)}
for task in sines(4, 0):
    params = meta_step(params, task)
    print("train", float(adapted_loss(params, task, inner_steps=1)))
for task in sines(3, 1):
    print("test", float(adapted_loss(params, task, inner_steps=3)))  # <- call
