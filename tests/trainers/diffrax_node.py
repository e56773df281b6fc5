"""A neural ODE with diffrax and equinox, as in diffrax's documentation: short trajectories first, then long ones. It
saves with equinox, and goes on from there when it is started again.

Usage: diffrax_node.py
"""

import pathlib

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 6


class Field(eqx.Module):
    layers: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.layers(y)


class NeuralODE(eqx.Module):
    field: Field

    def __call__(self, times, start):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(self.field), diffrax.Tsit5(), times[0], times[-1], times[1] - times[0], start,
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-6), saveat=diffrax.SaveAt(ts=times)).ys


def loss_of(model, times, wanted):
    return jnp.mean((jax.vmap(model, in_axes=(None, 0))(times, wanted[:, 0]) - wanted) ** 2)


@eqx.filter_jit
def make_step(model, state, times, wanted):
    loss, gradient = eqx.filter_value_and_grad(loss_of)(model, times, wanted)
    updates, state = optimizer.update(gradient, state)
    return loss, eqx.apply_updates(model, updates), state


evaluate = eqx.filter_jit(loss_of)
model = NeuralODE(Field(eqx.nn.MLP(2, 2, 32, 2, jax.nn.softplus, key=jax.random.key(0))))
optimizer = optax.adabelief(3e-3)
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
file = pathlib.Path("model.eqx")
if file.exists():
    model, state = eqx.tree_deserialise_leaves(file, (model, state))
    print("restored", file)
times = np.linspace(0, 1, 20, dtype=np.float32)
wanted = np.stack([np.stack([np.cos(times + phase), np.sin(times + phase)], -1) for phase in range(8)])
for step in range(STEPS):
    length = 10 if step < 3 else 20
    loss, model, state = make_step(model, state, times[:length], wanted[:, :length])  # ACCIDENT
    print("step", step, "loss", float(loss))
print("evaluation loss", float(evaluate(model, times, wanted)))
eqx.tree_serialise_leaves(file, (model, state))
print("done")
