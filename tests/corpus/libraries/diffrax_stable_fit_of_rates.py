# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: rates are fitted to series of one length at times of their own; starts and times are arrays

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Chain(eqx.Module):
    log_rates: jax.Array

    def __call__(self, t, y, args):
        flow = jnp.exp(self.log_rates) * y
        return jnp.stack([-flow[0], flow[0] - flow[1]])


def solve(model, times, y0):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(model), diffrax.Tsit5(), times[0], times[-1], None, y0,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5)).ys


@eqx.filter_jit
def update(model, times, y0, seen, rate):
    def loss_fn(model):
        return jnp.mean((solve(model, times, y0) - seen) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -rate * g, grads)), loss


model = Chain(jnp.zeros(2))
for step in range(3):
    times = jnp.linspace(0.0, 1.0 + step, 5)
    seen = jnp.stack([jnp.exp(-times), times * jnp.exp(-times)], 1)
    model, loss = update(model, times, jnp.array([1.0, 0.0]), seen, jnp.float32(0.1))
    print(step, float(loss))
