# cause: arguments
# subject: start['offset']
# old: absent
# new: f32[]
# reason: the start of the fit was a dictionary of two numbers and gains the offset

import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

times = np.linspace(0, 2, 15, dtype=np.float32)
seen = np.exp(-times)
solver = optx.LevenbergMarquardt(rtol=1e-3, atol=1e-3)


def residuals(params, args):
    times, seen = args
    curve = params["height"] * jnp.exp(-params["rate"] * times) + params.get("offset", 0.0)
    return curve - seen


@jax.jit
def fit(start):
    return optx.least_squares(residuals, solver, start, args=(times, seen), max_steps=64, throw=False).value


start = {"height": jnp.float32(1), "rate": jnp.float32(0.5)}
found = fit(start)
found = fit(found)
found = fit(found | {"offset": jnp.float32(0)})  # <- cause
