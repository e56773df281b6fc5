# cause: structure
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp


def make_gradient(adjoint):
    @jax.jit
    def gradient(rate):
        def loss(rate):
            term = diffrax.ODETerm(lambda t, y, args: -args * y)
            return diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.25, jnp.ones(2), rate,  # <- cause
                                       adjoint=adjoint, max_steps=8).ys.sum()
        return jax.grad(loss)(rate)
    return gradient


rate = jnp.float32(0.5)
make_gradient(diffrax.RecursiveCheckpointAdjoint())(rate)
make_gradient(diffrax.DirectAdjoint())(rate)  # <- call
