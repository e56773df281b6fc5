# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: windows, tolerances of the data and starting points differ in their values only

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


def field(t, y, args):
    control, rates = args
    return rates["gain"] * control.evaluate(t) - rates["loss"] * y


@jax.jit
def fit_step(rates, opt_state, times, inputs, measured):
    control = diffrax.LinearInterpolation(times, inputs)

    def loss_fn(rates):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field), diffrax.Heun(), times[0], times[-1], 0.1, measured[0],
            args=(control, rates), saveat=diffrax.SaveAt(ts=times), max_steps=64)
        return jnp.mean((solution.ys - measured) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(rates)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(rates, updates), opt_state, loss


def windows(rng, count):
    for _ in range(count):
        start = rng.uniform(0, 5)
        times = (start + np.linspace(0, rng.uniform(1, 2), 8)).astype(np.float32)
        inputs = rng.random(8).astype(np.float32)
        yield times, inputs, np.cumsum(inputs).astype(np.float32) / 8


rates = {"gain": np.float32(0.5), "loss": np.float32(0.1)}
opt_state = jax.jit(optimizer.init)(rates)
for window in windows(np.random.default_rng(0), 4):
    rates, opt_state, loss = fit_step(rates, opt_state, *window)
print(float(loss))
