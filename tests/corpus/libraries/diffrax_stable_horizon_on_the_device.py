# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(2, 2, 16, 1, activation=jnp.tanh, key=key)

    def __call__(self, t, y, args):
        return self.mlp(y)


def solve(field, start, ts):
    return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), ts[0], ts[-1], ts[1] - ts[0], start,
                               saveat=diffrax.SaveAt(ts=ts), max_steps=64).ys


@eqx.filter_jit
def make_step(field, opt_state, ts, ys):
    def loss_fn(field):
        return ((jax.vmap(solve, (None, 0, None))(field, ys[:, 0], ts) - ys) ** 2).mean()

    loss, grads = eqx.filter_value_and_grad(loss_fn)(field)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(field, updates), opt_state, loss


def spirals(rng, horizon):
    ts = np.linspace(0.0, horizon, 8).astype(np.float32)
    phase = rng.uniform(0, 6, (4, 1)) + ts
    return ts, np.stack([np.cos(phase), np.sin(phase)], -1).astype(np.float32)


optimizer = optax.adabelief(3e-3)
field = eqx.filter_jit(Field)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(field, eqx.is_inexact_array))
rng = np.random.default_rng(0)
for horizon in (0.5, 1.0, 2.0):
    for _ in range(2):
        field, opt_state, loss = make_step(field, opt_state, *spirals(rng, horizon))
    print(horizon, float(loss))
