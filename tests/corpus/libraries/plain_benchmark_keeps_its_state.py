# cause: donation
# new: donated

import time

import jax
import jax.numpy as jnp
import numpy as np


def init(key):
    return {"w": jax.random.normal(key, (16, 16)), "m": jnp.zeros((16, 16))}


def update(state, x):
    grad = jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) - x) ** 2))(state["w"])
    m = 0.9 * state["m"] + grad
    return {"w": state["w"] - 0.1 * m, "m": m}


def benchmark(state, x, repeats=3):
    timed = jax.jit(update)
    timed(state, x)
    began = time.perf_counter()
    for _ in range(repeats):
        jax.block_until_ready(timed(state, x))
    return (time.perf_counter() - began) / repeats


def train(state, rows):
    step = jax.jit(update, donate_argnums=0)
    for x in rows:
        state = step(state, x)  # <- cause
    return state


rows = np.random.default_rng(0).normal(size=(5, 8, 16)).astype(np.float32)
state = jax.jit(init)(jax.random.key(0))
print(f"{benchmark(state, rows[0]) * 1e3:.2f} ms a step")
state = train(state, rows)
print(np.abs(np.asarray(state["w"])).mean())
