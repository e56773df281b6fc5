# cause: weak_type
# subject: average
# old: weak f32[]
# new: f32[]
# advice: jnp.asarray
# reason: the first step gets the number 0.0, all others the array of the step before

import jax
import jax.numpy as jnp
import numpy as np


def predict(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


@jax.jit
def train_step(params, average, x, y):
    def loss_fn(params):
        return jnp.mean((predict(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, 0.95 * average + 0.05 * loss


def batches(rng, count):
    for _ in range(count):
        x = rng.normal(size=(8, 5)).astype(np.float32)
        yield x, x.sum(axis=1, keepdims=True)


def fit(steps):
    rng = np.random.default_rng(0)
    params = {"w1": rng.normal(size=(5, 6)).astype(np.float32),
              "w2": rng.normal(size=(6, 1)).astype(np.float32)}
    average = 0.0
    for number, (x, y) in enumerate(batches(rng, steps)):
        params, average = train_step(params, average, x, y)  # <- cause
        if number % 3 == 2:
            print(f"step {number}: {float(average):.4f}")
    return params


fit(6)
