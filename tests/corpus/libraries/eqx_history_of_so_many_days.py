# cause: size
# subject: days
# reason: the number of days is a Python number, which filter_jit makes static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Forecaster(eqx.Module):
    cell: eqx.nn.GRUCell
    readout: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(3, 8, key=a)
        self.readout = eqx.nn.Linear(8, 1, key=b)

    def __call__(self, series):
        def step(hidden, x):
            return self.cell(x, hidden), None

        hidden, _ = jax.lax.scan(step, jnp.zeros(8), series)
        return self.readout(hidden)[0]


@eqx.filter_jit
def forecast(model, series, days):
    recent = series[:, -days:]  # <- cause
    centred = recent - recent.mean(1, keepdims=True)
    return jax.vmap(model)(centred)


def backtest(model, series, days):
    predicted = np.asarray(forecast(model, series, days))  # <- call
    return float(np.abs(predicted - np.asarray(series)[:, -1, 0]).mean())


model = eqx.filter_jit(Forecaster)(jax.random.key(3))
series = np.random.default_rng(2).normal(size=(5, 60, 3)).astype(np.float32).cumsum(1)
for days in (14, 30):
    print(days, "days:", backtest(model, series, days))
