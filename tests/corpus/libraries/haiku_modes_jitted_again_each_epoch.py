# cause: retrace
# pattern: alternating
# program: jit_squared_error
# reason: each epoch jits the loss anew for training and for validation, with the mode bound into it

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def net(x, training):
    x = jax.nn.relu(hk.Linear(8)(x))
    if training:
        x = hk.dropout(hk.next_rng_key(), 0.3, x)
    return hk.Linear(1)(x)[:, 0]


model = hk.transform(net)


def squared_error(params, key, x, y, training):
    return jnp.mean((model.apply(params, key, x, training) - y) ** 2)


def compiled(training):
    return jax.jit(functools.partial(squared_error, training=training))


def batches(rng, count):
    for _ in range(count):
        x = rng.normal(size=(6, 3)).astype(np.float32)
        yield x, x.sum(axis=1)


def epoch_of(params, number, rng):
    results = {}
    for mode in ("train", "validation"):
        loss = compiled(training=mode == "train")
        values = [loss(params, jax.random.key(number), x, y) for x, y in batches(rng, 2)]  # <- cause
        results[mode] = float(np.mean([float(value) for value in values]))
    return results


rng = np.random.default_rng(0)
params = jax.jit(model.init, static_argnums=2)(jax.random.key(0), np.ones((6, 3), np.float32), False)
for number in range(4):
    print(number, epoch_of(params, number, rng))  # <- call
