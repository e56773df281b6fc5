# cause: donation
# reason: the benchmark must call the step twice with one state, so it has a jit of its own

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-3)


def train_step(params, opt_state, x):
    def loss_fn(params):
        hidden = jax.nn.gelu(x @ params["w"] + params["b"])
        return jnp.mean((hidden @ params["w"].T - x) ** 2)

    updates, opt_state = optimizer.update(jax.grad(loss_fn)(params), opt_state)
    return eqx.apply_updates(params, updates), opt_state


def benchmark(params, opt_state, x):
    step = jax.jit(train_step)
    for _ in range(3):
        start = time.perf_counter()
        jax.block_until_ready(step(params, opt_state, x))
    return time.perf_counter() - start


rng = np.random.default_rng(0)
params = {"w": jnp.asarray(rng.normal(size=(8, 4)).astype(np.float32)), "b": jnp.zeros(4)}
opt_state = optimizer.init(params)
x = rng.normal(size=(6, 8)).astype(np.float32)
seconds = benchmark(params, opt_state, x)
step = jax.jit(train_step, donate_argnums=(0, 1))
for _ in range(3):
    params, opt_state = step(params, opt_state, x)  # <- cause
print(seconds, float(params["b"].sum()))
