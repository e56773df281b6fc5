# cause: size
# subject: checkpoints
# old: 4
# new: 8
# run: EQX_ON_ERROR=nan
# reason: for speed the gradient keeps more checkpoints of the solution; their number is a setting, by which Equinox also chooses how it looks for the next one (no comparison where all 16 steps are within reach)

import functools

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def field(t, y, weights):
    return jnp.tanh(weights @ y)


@functools.partial(jax.jit, static_argnames="checkpoints")
def gradient(weights, y0, checkpoints):
    def loss(weights):
        adjoint = diffrax.RecursiveCheckpointAdjoint(checkpoints=checkpoints)
        solution = diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.0625, y0, weights, adjoint=adjoint, max_steps=16)  # <- cause
        return jnp.sum(solution.ys ** 2)

    return jax.grad(loss)(weights)


weights, y0 = np.eye(3, dtype=np.float32), np.ones(3, np.float32)
for checkpoints in (4, 4, 8):
    weights = weights - 0.1 * np.asarray(gradient(weights, y0, checkpoints))  # <- call
