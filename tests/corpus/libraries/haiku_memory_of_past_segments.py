# cause: arguments
# subject: memory[2]
# old: absent
# new: f32[2,5]
# advice: list lengths | stack
# reason: what each segment left is appended to a list, all of which the next one reads

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


class SegmentReader(hk.Module):
    def __call__(self, segment, memory):
        state = hk.Linear(5)(segment)
        for past in memory:
            state = state + 0.5 * jnp.tanh(past)
        return state


reader = hk.without_apply_rng(hk.transform(lambda s, m: SegmentReader()(s, m)))
segment = np.ones((2, 7), np.float32)
params = jax.jit(reader.init)(jax.random.key(0), segment, [])


@jax.jit
def read(params, segment, memory):
    return reader.apply(params, segment, memory)


memory = []
for _ in range(4):
    state = read(params, segment, memory)  # <- cause
    memory.append(state)
