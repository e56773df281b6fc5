# cause: constant
# old: 0.001
# new: 1e-05
# run: EQX_ON_ERROR=nan
# reason: the trajectory for the report is solved with a different tolerance than those of the fit

import functools

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

TIMES = np.linspace(0.0, 4.0, 9).astype(np.float32)


def predator_prey(t, state, rates):
    hares, lynxes = state
    birth, hunt, death, gain = rates
    return jnp.stack([birth * hares - hunt * hares * lynxes, gain * hares * lynxes - death * lynxes])


@functools.partial(jax.jit, static_argnames=("rtol",))
def simulate(rates, start, rtol):
    controller = diffrax.PIDController(rtol=rtol, atol=1e-6)
    solution = diffrax.diffeqsolve(diffrax.ODETerm(predator_prey), diffrax.Tsit5(), 0.0, 4.0, 0.05, start, rates, saveat=diffrax.SaveAt(ts=TIMES), stepsize_controller=controller)  # <- cause
    return solution.ys


def fit(observed, start, steps):
    optimizer = optax.sgd(1e-3)
    rates = np.array([1.0, 0.5, 0.8, 0.3], np.float32)
    opt_state = optimizer.init(rates)
    for _ in range(steps):
        ys = simulate(rates, start, rtol=1e-3)
        error = np.asarray(ys) - observed
        slope = np.full(4, error.mean(), np.float32)
        updates, opt_state = optimizer.update(slope, opt_state)
        rates = np.asarray(rates + np.asarray(updates), np.float32)
    return rates


start = np.array([2.0, 1.0], np.float32)
observed = np.ones((9, 2), np.float32)
rates = fit(observed, start, 3)
final = simulate(rates, start, rtol=1e-5)  # <- call
print(np.asarray(final)[-1])
