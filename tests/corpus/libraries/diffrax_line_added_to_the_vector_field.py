# cause: edit
# new: flow = flow + 0.2 * jnp.sin(args["drive"] * t)
# program: jit_simulate
# run: write ""
# run: EQX_ON_ERROR=nan simulate
# run: write "flow = flow + 0.2 * jnp.sin(args[\"drive\"] * t)"
# run: EQX_ON_ERROR=nan simulate
# reason: a line is added to the vector field between the runs

import pathlib
import sys

if sys.argv[1] == "write":
    pathlib.Path("pendulum.py").write_text(f'''import jax.numpy as jnp


def field(t, state, args):
    """A damped pendulum."""
    angle, speed = state
    flow = -args["damping"] * speed - jnp.sin(angle)
    {sys.argv[2]}
    return speed, flow


def energy(state):
    angle, speed = state
    return 0.5 * speed ** 2 - jnp.cos(angle)
'''.replace("    \n", ""))
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import diffrax
import jax
import numpy as np

import pendulum

term = diffrax.ODETerm(pendulum.field)
controller = diffrax.PIDController(rtol=1e-4, atol=1e-6)


@jax.jit
def simulate(start, args, times):
    solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), times[0], times[-1], 0.05, start, args,
                                   saveat=diffrax.SaveAt(ts=times),
                                   stepsize_controller=controller)
    return pendulum.energy(solution.ys)


args = {"damping": np.float32(0.1), "drive": np.float32(2.0)}
times = np.linspace(0, 3, 7, dtype=np.float32)
for angle in (0.1, 0.5, 1.0):
    energies = simulate((np.float32(angle), np.float32(0)), args, times)
print(np.asarray(energies))
