# cause: structure
# program: jit_train_step
# run: EQX_ON_ERROR=nan
# reason: first the known equation is fitted, then a network corrects it; its weights are there from the beginning

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Hybrid(eqx.Module):
    rate: jax.Array
    network: eqx.nn.MLP
    corrected: bool = eqx.field(static=True)

    def __call__(self, t, y, args):
        slope = -self.rate * y
        if self.corrected:
            slope = slope + self.network(y)  # <- cause
        return slope


def solve(model, start, ts):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(model), diffrax.Heun(), ts[0], ts[-1], ts[1] - ts[0], start,
        saveat=diffrax.SaveAt(ts=ts), max_steps=16)
    return solution.ys


optimizer = optax.adam(1e-2)


@eqx.filter_jit
def train_step(model, opt_state, starts, ts, measured):
    def loss_fn(model):
        found = jax.vmap(solve, in_axes=(None, 0, None))(model, starts, ts)
        return jnp.mean((found - measured) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


rng = np.random.default_rng(0)
ts = np.linspace(0.0, 1.0, 5, dtype=np.float32)
model = Hybrid(jnp.float32(0.5), eqx.nn.MLP(2, 2, 6, 1, key=jax.random.key(0)), corrected=False)
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
for corrected in (False, True):
    model = Hybrid(model.rate, model.network, corrected)
    opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    for _ in range(2):
        starts = rng.normal(size=(3, 2)).astype(np.float32)
        measured = (starts[:, None] * np.exp(-ts)[None, :, None]).astype(np.float32)
        model, opt_state, loss = train_step(model, opt_state, starts, ts, measured)  # <- call
    print(corrected, float(loss))
