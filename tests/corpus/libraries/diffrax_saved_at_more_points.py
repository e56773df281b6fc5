# cause: size
# run: EQX_ON_ERROR=nan
# reason: the number of points is a static Python number

import functools

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


class Pendulum:
    def __init__(self, damping):
        self.damping = damping

    def field(self, t, state, length):
        angle, speed = state
        return speed, -9.81 / length * jnp.sin(angle) - self.damping * speed


pendulum = Pendulum(0.1)


@functools.partial(jax.jit, static_argnums=2)
def trajectory(start, length, points):
    ts = jnp.linspace(0.0, 2.0, points)  # <- cause
    solution = diffrax.diffeqsolve(diffrax.ODETerm(pendulum.field), diffrax.Heun(), 0.0, 2.0, 0.05,
                                   (start, jnp.zeros_like(start)), args=length,
                                   saveat=diffrax.SaveAt(ts=ts))
    angle, speed = solution.ys
    return ts, angle


def plot(points):
    ts, angle = trajectory(np.float32(0.4), np.float32(1.3), points)  # <- call
    return "".join("*" if value > 0 else "." for value in np.asarray(angle))


print(plot(20))
print(plot(50))
