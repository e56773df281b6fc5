# cause: weak_type
# subject: temperature
# old: f32[]
# new: weak f32[]
# advice: asarray
# reason: requests bring the temperature as an array, the default is a Python number

import haiku as hk
import jax
import numpy as np

policy = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([6, 3])(x)))
x = np.ones((2, 4), np.float32)
params = jax.jit(policy.init)(jax.random.key(0), x)


@jax.jit
def probabilities(params, x, temperature):
    return jax.nn.softmax(policy.apply(params, x) / temperature)


def answer(request, temperature=1.0):
    return np.asarray(probabilities(params, request, temperature))  # <- cause


answer(x, np.float32(0.5))
answer(x, np.float32(2.0))
answer(x)  # <- call
