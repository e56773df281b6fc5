# cause: stable

import functools

import haiku as hk
import jax
import numpy as np


@hk.transform_with_state
def network(x, is_training):
    x = hk.Conv2D(4, 3)(x)
    x = hk.BatchNorm(True, True, 0.9)(x, is_training)
    return hk.Linear(2)(jax.nn.relu(x).mean(axis=(1, 2)))


@jax.jit
def train(params, state, x):
    return network.apply(params, state, None, x, True)


@jax.jit
def test(params, state, x):
    return network.apply(params, state, None, x, False)


x = np.ones((2, 6, 6, 1), np.float32)
init = jax.jit(functools.partial(network.init, is_training=True))
params, state = init(jax.random.PRNGKey(0), x)
for _ in range(2):
    logits, state = train(params, state, x)
logits, _ = test(params, state, x)
