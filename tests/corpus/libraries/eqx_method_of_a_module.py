# cause: shape
# subject: frames
# old: f32[6,4]
# new: f32[9,4]

import equinox as eqx
import jax
import numpy as np


class Recurrent(eqx.Module):
    cell: eqx.nn.GRUCell

    @eqx.filter_jit
    def run(self, frames):
        def step(state, frame):
            return self.cell(frame, state), None

        return jax.lax.scan(step, jax.numpy.zeros(5), frames)[0]


model = Recurrent(eqx.nn.GRUCell(4, 5, key=jax.random.key(0)))
for video in (np.ones((6, 4), np.float32), np.ones((9, 4), np.float32)):
    model.run(video)  # <- cause
