# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: the control's values, the end and the tolerance are arrays; the spline has as many knots each time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

KNOTS = np.linspace(0.0, 1.0, 5, dtype=np.float32)


@jax.jit
def simulate(controls, y0, end):
    spline = diffrax.LinearInterpolation(ts=KNOTS, ys=controls)

    def field(t, y, spline):
        return jnp.stack([y[1], spline.evaluate(jnp.clip(t / end, 0.0, 1.0)) - 0.5 * y[1]])

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, end, None, y0, spline,
        stepsize_controller=diffrax.PIDController(rtol=1e-2, atol=1e-3), max_steps=64)
    return solution.ys[-1]


@jax.jit
def improve(controls, y0, end, rate):
    value, slope = jax.value_and_grad(lambda c: jnp.sum((simulate(c, y0, end) - 1.0) ** 2))(controls)
    return controls - rate * slope, value


controls, y0 = np.zeros(5, np.float32), np.zeros(2, np.float32)
for step in range(3):
    controls, value = improve(controls, y0, np.float32(1.0 + 0.5 * step), np.float32(0.1 / (step + 1)))
    print(float(value), np.asarray(simulate(controls, y0, np.float32(2.0))))
