# cause: arguments
# subject: hidden[2]
# old: absent
# new: f32[4]
# reason: the second network has one recurrent layer more, and so one state more

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def advance(hidden, x):
    states = []
    for state in hidden:
        x = 0.5 * state + jnp.tanh(x)
        states.append(x)
    return states, x


@eqx.filter_jit
def run(hidden, sequence):
    hidden, outputs = jax.lax.scan(advance, hidden, sequence)
    return hidden, outputs.mean(0)


sequence = np.ones((6, 4), np.float32)
for layers in (2, 2, 3):
    hidden = [np.zeros(4, np.float32) for _ in range(layers)]
    hidden, mean = run(hidden, sequence)  # <- cause
