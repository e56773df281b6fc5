# cause: stable
# reason: a chain is sampled in chunks of one length; its state is pickled between two of them

import pickle

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

data = np.random.default_rng(0).normal(1.0, 2.0, 25).astype(np.float32)


def logdensity(position):
    z = (data - position["mean"]) / jnp.exp(position["scale"])
    return -0.5 * jnp.sum(z ** 2) - 25 * position["scale"]


kernel = blackjax.hmc(logdensity, 0.03, np.ones(2, np.float32), 4)


@jax.jit
def chunk(key, state):
    def one(state, key):
        state, info = kernel.step(key, state)
        return state, (state.position["mean"], info.is_accepted)

    return jax.lax.scan(one, state, jax.random.split(key, 10))


start = {"mean": np.float32(0.0), "scale": np.float32(0.0)}
state = jax.jit(kernel.init)(start)
means = []
for index in range(4):
    state, (mean, accepted) = chunk(jax.random.key(index), state)
    means.append(np.asarray(mean))
    if index == 1:
        state = pickle.loads(pickle.dumps(jax.device_get(state)))
print(np.concatenate(means).mean(), np.asarray(accepted).mean())
