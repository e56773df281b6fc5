# cause: retrace
# advice: same containers
# program: jit_evaluate
# reason: one caller wants the figures by name, the other as a tuple; the program is the same

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def value_function(observation):
    return hk.Sequential([hk.Linear(8), jax.nn.relu, hk.Linear(1)])(observation)[:, 0]


values = hk.without_apply_rng(hk.transform(value_function))


@functools.partial(jax.jit, static_argnames=("as_dict",))
def evaluate(params, observation, returns, as_dict=False):
    predicted = values.apply(params, observation)
    bias = jnp.mean(predicted - returns)
    error = jnp.sqrt(jnp.mean((predicted - returns) ** 2))
    if as_dict:
        return {"bias": bias, "error": error}
    return bias, error


class Dashboard:
    def __init__(self):
        self.rows = []

    def show(self, figures):
        self.rows.append({name: round(float(value), 3) for name, value in figures.items()})


def early_stop(params, observation, returns):
    _, error = evaluate(params, observation, returns)
    return float(error) < 0.01


rng = np.random.default_rng(0)
observation = rng.normal(size=(6, 5)).astype(np.float32)
returns = rng.normal(size=6).astype(np.float32)
params = jax.jit(values.init)(jax.random.key(0), observation)
dashboard = Dashboard()
for step in range(3):
    if early_stop(params, observation, returns):
        break
dashboard.show(evaluate(params, observation, returns, as_dict=True))  # <- cause
print(dashboard.rows)
