# cause: stable
# reason: training of a neural ODE with batches of one length, then a checkpoint and an evaluation
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan

import pathlib

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(2, 2, 8, 1, activation=jax.nn.softplus, key=key)

    def __call__(self, t, y, args):
        return self.mlp(y)


class NeuralODE(eqx.Module):
    field: Field

    def __call__(self, ts, y0):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(self.field), diffrax.Tsit5(), t0=ts[0], t1=ts[-1], dt0=ts[1] - ts[0],
            y0=y0, saveat=diffrax.SaveAt(ts=ts), max_steps=64,
            stepsize_controller=diffrax.PIDController(rtol=1e-2, atol=1e-3)).ys


def loss_fn(model, ts, ys):
    return jnp.mean((jax.vmap(model, in_axes=(None, 0))(ts, ys[:, 0]) - ys) ** 2)


@eqx.filter_jit
def make_step(ts, ys, model, state):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, ts, ys)
    updates, state = optimizer.update(grads, state)
    return loss, eqx.apply_updates(model, updates), state


model = NeuralODE(Field(jax.random.key(0)))
optimizer = optax.adabelief(1e-3)
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
rng = np.random.default_rng(0)
ts = np.linspace(0.0, 1.0, 5, dtype=np.float32)
for _ in range(4):
    ys = rng.normal(size=(3, 5, 2)).astype(np.float32)
    loss, model, state = make_step(ts, ys, model, state)
path = pathlib.Path("model.eqx")
eqx.tree_serialise_leaves(path, model)
model = eqx.tree_deserialise_leaves(path, model)
print(float(loss), float(eqx.filter_jit(loss_fn)(model, ts, ys)))
