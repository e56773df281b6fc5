# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: an ensemble of neural equations, adaptive steps, forecasts of other times but as many, the best member by itself

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

MEMBERS = 3
optimizer = optax.adabelief(3e-3)
controller = diffrax.PIDController(rtol=1e-2, atol=1e-3)


class Field(eqx.Module):
    network: eqx.nn.MLP
    scale: jax.Array

    def __init__(self, key):
        self.network = eqx.nn.MLP(2, 2, 6, 1, activation=jax.nn.tanh, key=key)
        self.scale = jnp.asarray(0.5, jnp.float32)

    def __call__(self, t, y, args):
        return self.scale * self.network(y)


def solve(field, start, ts):
    return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Bosh3(), ts[0], ts[-1], ts[1] - ts[0],
                               start, saveat=diffrax.SaveAt(ts=ts), stepsize_controller=controller,
                               max_steps=64).ys


@eqx.filter_jit
@eqx.filter_vmap
def make(key):
    field = Field(key)
    return field, optimizer.init(eqx.filter(field, eqx.is_inexact_array))


def loss_fn(field, starts, ts, measured):
    return jnp.mean((jax.vmap(solve, in_axes=(None, 0, None))(field, starts, ts) - measured) ** 2)


@eqx.filter_jit
def train_step(fields, opt_states, starts, ts, measured):
    @eqx.filter_vmap(in_axes=(eqx.if_array(0), eqx.if_array(0)))
    def one(field, opt_state):
        loss, grads = eqx.filter_value_and_grad(loss_fn)(field, starts, ts, measured)
        updates, opt_state = optimizer.update(grads, opt_state)
        return eqx.apply_updates(field, updates), opt_state, loss

    return one(fields, opt_states)


@eqx.filter_jit
def forecast(fields, start, ts):
    paths = eqx.filter_vmap(solve, in_axes=(eqx.if_array(0), None, None))(fields, start, ts)
    return paths.mean(0), paths.std(0)


@eqx.filter_jit
def path_of_one(field, start, ts):
    return solve(field, start, ts)


def truth(starts, ts):
    turn = np.stack([np.cos(ts), np.sin(ts)], axis=-1)
    return (starts[:, None, :] * turn[None]).astype(np.float32)


rng = np.random.default_rng(0)
fields, opt_states = make(jax.random.split(jax.random.key(0), MEMBERS))
ts = np.linspace(0.0, 1.0, 5, dtype=np.float32)
for epoch in range(2):
    for _ in range(2):
        starts = rng.normal(size=(4, 2)).astype(np.float32)
        fields, opt_states, losses = train_step(fields, opt_states, starts, ts, truth(starts, ts))
    mean, spread = forecast(fields, starts[0], ts + np.float32(epoch))
    print(epoch, np.asarray(losses), np.asarray(spread)[-1])
best = int(np.asarray(losses).argmin())
arrays, rest = eqx.partition(fields, eqx.is_array)
member = eqx.combine(jax.tree.map(lambda leaf: np.asarray(leaf)[best], arrays), rest)
for start in starts[:2]:
    print(np.asarray(path_of_one(member, start, ts))[-1])
