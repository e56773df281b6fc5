# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: times, tolerances and starts are arrays, in training as in the forecast afterwards

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Oscillator(eqx.Module):
    log_frequency: jax.Array
    damping: jax.Array

    def __call__(self, t, y, args):
        position, velocity = y
        frequency = jnp.exp(self.log_frequency)
        return velocity, -frequency ** 2 * position - self.damping * velocity


def trajectory(model, start, ts):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(model), diffrax.Heun(), t0=ts[0], t1=ts[-1], dt0=jnp.float32(0.1),
        y0=(start[0], start[1]), saveat=diffrax.SaveAt(ts=ts), max_steps=64)
    return solution.ys[0]


@eqx.filter_jit
def train_step(model, opt_state, starts, ts, measured):
    def loss_fn(model):
        found = jax.vmap(trajectory, in_axes=(None, 0, None))(model, starts, ts)
        return jnp.mean((found - measured) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


@eqx.filter_jit
def forecast(model, start, ts):
    return trajectory(model, start, ts)


optimizer = optax.adam(1e-2)
model = Oscillator(jnp.float32(0.1), jnp.float32(0.05))
opt_state = optimizer.init(model)
rng = np.random.default_rng(0)
ts = np.linspace(0.0, 1.0, 6, dtype=np.float32)
for step in range(3):
    starts = rng.normal(size=(4, 2)).astype(np.float32)
    measured = starts[:, :1] * np.cos(ts) + starts[:, 1:] * np.sin(ts)
    model, opt_state, loss = train_step(model, opt_state, starts, ts, measured.astype(np.float32))
for begin in (1.0, 2.0):
    print(np.asarray(forecast(model, np.ones(2, np.float32), ts + np.float32(begin)))[-1])
