# cause: structure
# run: EQX_ON_ERROR=nan
# reason: the energy along the way is saved instead of the state; what computes it is a function of the caller's

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def pendulum(t, y, args):
    angle, speed = y
    return speed, -args["gravity"] / args["length"] * jnp.sin(angle) - args["friction"] * speed


def energy(t, y, args):
    return 0.5 * (args["length"] * y[1]) ** 2 - args["gravity"] * args["length"] * jnp.cos(y[0])


def make_simulate(saved):
    @jax.jit
    def simulate(y0, args):
        times = jnp.linspace(0.0, 1.0, 5)
        extra = {} if saved is None else {"fn": saved}
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(pendulum), diffrax.Tsit5(), 0.0, 1.0, 0.05, y0, args,
            saveat=diffrax.SaveAt(ts=times, **extra), max_steps=64)
        return solution.ys

    return simulate


y0 = (np.float32(0.5), np.float32(0.0))
args = {"gravity": np.float32(9.81), "length": np.float32(1.0), "friction": np.float32(0.1)}
for saved in (None, energy):
    simulate = make_simulate(saved)
    for push in (0.0, 0.1):
        simulate((y0[0], np.float32(push)), args)  # <- call
