# cause: stable
# reason: state and random keys are carried from step to step

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def loss(sequence):
    core = hk.DeepRNN([hk.GRU(4), jax.nn.relu, hk.Linear(2)])
    outputs, _ = hk.dynamic_unroll(core, sequence, core.initial_state(sequence.shape[1]))
    noise = hk.dropout(hk.next_rng_key(), 0.1, outputs)
    return jnp.mean(noise ** 2)


network = hk.transform(loss)
rng = hk.PRNGSequence(0)
sequence = np.ones((5, 2, 3), np.float32)
params = jax.jit(network.init)(next(rng), sequence)
step = jax.jit(jax.value_and_grad(network.apply))
for _ in range(3):
    value, grads = step(params, next(rng), sequence)
print(float(value))
