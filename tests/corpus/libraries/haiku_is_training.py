# cause: structure

import functools

import haiku as hk
import jax
import numpy as np


def forward(x, is_training):
    x = jax.nn.relu(hk.Linear(8)(x))
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.5, x)  # <- cause
    return hk.Linear(2)(x)


net = hk.transform(forward)
x = np.ones((3, 4), np.float32)
params = jax.jit(net.init, static_argnums=2)(jax.random.PRNGKey(0), x, False)


@functools.partial(jax.jit, static_argnums=3)
def predict(params, rng, x, is_training):
    return net.apply(params, rng, x, is_training)


rng = jax.random.PRNGKey(1)
predict(params, rng, x, True)
predict(params, rng, x, False)  # <- call
