# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: one length of the series, one grid of times, the learning rate is part of the state

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

    def __init__(self, key):
        self.field = Field(key)

    def __call__(self, times, start):
        solution = diffrax.diffeqsolve(diffrax.ODETerm(self.field), diffrax.Heun(), times[0], times[-1],
                                       times[1] - times[0], start, saveat=diffrax.SaveAt(ts=times))
        return solution.ys


optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=3e-3)


@eqx.filter_jit
def make_step(model, opt_state, times, series):
    def loss_fn(model):
        predicted = jax.vmap(model, in_axes=(None, 0))(times, series[:, 0])
        return jnp.mean((predicted - series) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def spirals(rng, times, batch):
    phase = rng.uniform(0, 6, (batch, 1)).astype(np.float32)
    decay = np.exp(-0.3 * times)[None]
    return np.stack([decay * np.cos(times + phase), decay * np.sin(times + phase)], axis=-1).astype(np.float32)


def main():
    rng = np.random.default_rng(0)
    times = np.linspace(0, 3, 7, dtype=np.float32)
    model = eqx.filter_jit(NeuralODE)(jax.random.key(0))
    opt_state = jax.jit(optimizer.init)(eqx.filter(model, eqx.is_array))
    for index in range(4):
        model, opt_state, loss = make_step(model, opt_state, times, spirals(rng, times, 4))
        print(index, float(loss))


main()
