# cause: shape
# subject: x
# old: f32[6,4]
# new: f32[2,4]
# and
# cause: structure
# reason: the last batch is short, and validated without dropout

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(x, train):
    hidden = jax.nn.relu(hk.Linear(8)(x))
    if train:
        hidden = hk.dropout(hk.next_rng_key(), 0.25, hidden)  # <- cause 2
    return hk.Linear(3)(hidden)


net = hk.transform(forward)
data = np.ones((8, 4), np.float32)
params = jax.jit(net.init, static_argnums=2)(jax.random.PRNGKey(0), data, True)


@functools.partial(jax.jit, static_argnames="train")
def loss(params, rng, x, train):
    return jnp.mean(net.apply(params, rng, x, train) ** 2)


key = jax.random.PRNGKey(1)
for start in (0, 6):
    loss(params, key, data[start:start + 6], train=start == 0)  # <- cause, call 2
