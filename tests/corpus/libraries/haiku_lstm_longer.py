# cause: shape
# subject: sequence
# old: f32[5,2,3]
# new: f32[7,2,3]

import haiku as hk
import jax
import numpy as np


def unroll(sequence):
    core = hk.LSTM(4)
    outputs, _ = hk.dynamic_unroll(core, sequence, core.initial_state(2))
    return hk.BatchApply(hk.Linear(1))(outputs)


net = hk.without_apply_rng(hk.transform(unroll))
params = jax.jit(net.init)(jax.random.PRNGKey(0), np.ones((5, 2, 3), np.float32))


@jax.jit
def predict(params, sequence):
    return net.apply(params, sequence)


def rollout(steps):
    sequence = np.ones((steps, 2, 3), np.float32)
    return predict(params, sequence)  # <- cause


rollout(5)
rollout(7)
