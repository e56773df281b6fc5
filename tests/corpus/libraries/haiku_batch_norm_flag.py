# cause: structure

import functools

import haiku as hk
import jax
import numpy as np


class Encoder(hk.Module):
    def __call__(self, x, is_training):
        hidden = hk.Linear(6)(x)
        norm = hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9)
        return norm(hidden, is_training)  # <- cause


net = hk.without_apply_rng(hk.transform_with_state(lambda x, train: Encoder()(x, train)))
x = np.ones((3, 4), np.float32)
params, state = jax.jit(functools.partial(net.init, train=True))(jax.random.PRNGKey(0), x)
apply = jax.jit(net.apply, static_argnums=3)


def evaluate(train):
    return apply(params, state, x, train)  # <- call


evaluate(True)
evaluate(False)
