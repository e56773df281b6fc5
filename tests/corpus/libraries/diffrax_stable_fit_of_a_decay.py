# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: rates are fitted through the solver; tolerances and times never change

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

TIMES = np.linspace(0.0, 1.0, 6, dtype=np.float32)
optimizer = optax.adam(5e-2)


def field(t, y, rates):
    return -jnp.exp(rates) * y


def solve(rates, y0):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Bosh3(), 0.0, 1.0, 0.1, y0, args=rates,
        saveat=diffrax.SaveAt(ts=TIMES), max_steps=64,
        stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5))
    return solution.ys


@jax.jit
def fit_step(rates, opt_state, y0, observed):
    loss, grads = jax.value_and_grad(lambda r: jnp.mean((solve(r, y0) - observed) ** 2))(rates)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(rates, updates), opt_state, loss


y0 = np.array([1.0, 2.0], np.float32)
observed = y0 * np.exp(-np.array([0.5, 1.5], np.float32) * TIMES[:, None])
rates = np.zeros(2, np.float32)
opt_state = optimizer.init(rates)
for step in range(5):
    rates, opt_state, loss = fit_step(rates, opt_state, y0, observed)
print(np.exp(np.asarray(rates)), float(loss))
