# cause: shape
# subject: buffer
# old: f32[4,3]
# new: f32[6,3]
# advice: full length | pad
# reason: what was seen is appended to the buffer in each round, and statistics are taken of all of it

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def statistics(buffer):
    mean = jnp.mean(buffer, axis=0)
    return mean, jnp.sqrt(jnp.mean((buffer - mean) ** 2, axis=0) + 1e-6)


class Collector:
    def __init__(self):
        self.buffer = np.zeros((0, 3), np.float32)

    def add(self, rows):
        self.buffer = np.concatenate([self.buffer, rows])

    def normalise(self, rows):
        mean, deviation = statistics(self.buffer)  # <- cause
        return (rows - np.asarray(mean)) / np.asarray(deviation)


collector = Collector()
for number in range(3):
    rows = np.full((2, 3), number, np.float32)
    collector.add(rows)
    collector.normalise(rows)
