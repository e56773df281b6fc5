# cause: stable
# reason: a sweep over parameters in chunks of one size, then a fit that differentiates through the solve
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

TIMES = jnp.linspace(0.0, 2.0, 5)


def field(t, y, args):
    growth, capacity = args
    return growth * y * (1 - y / capacity)


def solve(args):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 2.0, 0.1, jnp.float32(0.1), args=args,
        saveat=diffrax.SaveAt(ts=TIMES),
        stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6)).ys


@jax.jit
def sweep(growth, capacity):
    return jax.vmap(lambda g, c: solve((g, c)))(growth, capacity)


optimizer = optax.adam(1e-2)


@jax.jit
def fit_step(params, opt_state, target):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((solve(p) - target) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
for chunk in np.split(rng.uniform(0.5, 2.0, size=(12, 2)).astype(np.float32), 3):
    curves = sweep(chunk[:, 0], chunk[:, 1])
params = (jnp.float32(1.0), jnp.float32(1.5))
opt_state = optimizer.init(params)
for _ in range(3):
    params, opt_state, loss = fit_step(params, opt_state, curves[0])
print(float(loss))
