# cause: retrace
# reason: each epoch makes the same optimizer anew and passes it to the step, where filter_jit compares its functions

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Forecaster(eqx.Module):
    cell: eqx.nn.GRUCell
    head: eqx.nn.Linear

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(2, 6, key=one)
        self.head = eqx.nn.Linear(6, 1, key=two)

    def __call__(self, series):
        state, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(6), series)
        return self.head(state)[0]


@eqx.filter_jit
def make_step(model, optim, opt_state, series, target):
    def loss_fn(model):
        return jnp.mean((jax.vmap(model)(series) - target) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optim.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


def train_epoch(model, opt_state, series, target):
    optim = optax.adamw(1e-3, weight_decay=1e-4)
    if opt_state is None:
        opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    for start in range(0, len(series), 4):
        model, opt_state, loss = make_step(  # <- cause
            model, optim, opt_state, series[start:start + 4], target[start:start + 4])
    return model, opt_state, loss


rng = np.random.default_rng(0)
series = rng.normal(size=(12, 7, 2)).astype(np.float32)
target = series[:, -1, 0]
model, opt_state = Forecaster(jax.random.key(0)), None
for epoch in range(3):
    model, opt_state, loss = train_epoch(model, opt_state, series, target)  # <- call
    print(epoch, float(loss))
