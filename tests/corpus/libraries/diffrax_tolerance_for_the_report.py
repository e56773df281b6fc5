# cause: constant
# old: 0.001
# new: 1e-05
# run: EQX_ON_ERROR=nan
# reason: the final figures are computed with a smaller tolerance, a static argument

import functools

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def lotka_volterra(t, y, args):
    prey, predator = y
    a, b, c, d = args
    return jnp.stack([a * prey - b * prey * predator, -c * predator + d * prey * predator])


@functools.partial(jax.jit, static_argnames="rtol")
def simulate(y0, args, rtol):
    controller = diffrax.PIDController(rtol=rtol, atol=1e-5)
    solution = diffrax.diffeqsolve(  # <- cause
        diffrax.ODETerm(lotka_volterra), diffrax.Heun(), 0.0, 2.0, 0.1, y0, args=args,
        stepsize_controller=controller, max_steps=4096)
    return solution.ys[-1]


y0 = np.array([10.0, 5.0], np.float32)
args = np.array([1.1, 0.4, 0.4, 0.1], np.float32)
for _ in range(3):
    y = simulate(y0, args, rtol=1e-3)
    args = args * np.float32(0.99)
print("draft", y)
print("report", simulate(y0, args, rtol=1e-5))  # <- call
