# cause: constant
# old: 0.25
# new: 0.5
# advice: array
# reason: the rate is a number of the configuration that the jitted function closes over: what is kept is 1 - rate

import dataclasses

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 8
    dropout: float = 0.25


def make_trainer(config):
    def network(x):
        x = jax.nn.relu(hk.Linear(config.width)(x))
        x = hk.dropout(hk.next_rng_key(), config.dropout, x)  # <- cause
        return hk.Linear(1)(x)

    model = hk.transform(network)

    @jax.jit
    def update(params, key, x):
        grads = jax.grad(lambda params: jnp.mean(model.apply(params, key, x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return jax.jit(model.init), update


def fit(config, x, params=None):
    init, update = make_trainer(config)
    if params is None:
        params = init(jax.random.key(0), x)
    for step in range(3):
        params = update(params, jax.random.key(step), x)  # <- call
    return params


x = np.ones((4, 5), np.float32)
config = Config()
params = fit(config, x)
params = fit(dataclasses.replace(config, dropout=0.5), x, params)
