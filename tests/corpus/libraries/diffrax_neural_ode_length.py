# cause: shape
# subject: ti
# old: f32[6]
# new: f32[9]
# reason: the lengths of ti and yi drift as one; ti is the first of them
# advice: pad | fixed shape
# run: EQX_ON_ERROR=nan

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class NeuralODE(eqx.Module):
    mlp: eqx.nn.MLP

    def __call__(self, ts, y0):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: self.mlp(y)), diffrax.Heun(), t0=ts[0], t1=ts[-1],
            dt0=ts[1] - ts[0], y0=y0, saveat=diffrax.SaveAt(ts=ts), max_steps=16)
        return solution.ys


@eqx.filter_value_and_grad
def grad_loss(model, ti, yi):
    predicted = jax.vmap(model, in_axes=(None, 0))(ti, yi[:, 0])
    return jnp.mean((yi - predicted) ** 2)


@eqx.filter_jit
def make_step(ti, yi, model, state):
    loss, grads = grad_loss(model, ti, yi)
    updates, state = optimizer.update(grads, state)
    return loss, eqx.apply_updates(model, updates), state


optimizer = optax.sgd(1e-2)
model = NeuralODE(eqx.nn.MLP(2, 2, 4, 1, key=jax.random.key(0)))
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
ts, ys = np.linspace(0.0, 1.0, 9, dtype=np.float32), np.ones((4, 9, 2), np.float32)
for length in (6, 9):
    loss, model, state = make_step(jnp.asarray(ts[:length]), jnp.asarray(ys[:, :length]), model, state)  # <- cause
