# cause: retrace
# advice: once
# reason: the chain is saved after each chunk, and each chunk makes its kernel and its jit again

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(position):
    slope, offset = position["slope"], position["offset"]
    prior = -0.5 * (jnp.sum(slope**2) + offset**2)
    return prior - 0.5 * jnp.sum((Y - X @ slope - offset) ** 2)


rng = np.random.default_rng(0)
X = rng.normal(size=(20, 2)).astype(np.float32)
Y = (X @ np.array([1.0, -2.0]) + 0.5).astype(np.float32)


class Chain:
    def __init__(self, position, step_size):
        self.settings = {"step_size": step_size, "inverse_mass_matrix": np.ones(3, np.float32), "num_integration_steps": 4}
        self.state = jax.jit(blackjax.hmc(logdensity, **self.settings).init)(position)
        self.draws = []

    def run(self, seed, length):
        kernel = jax.jit(blackjax.hmc(logdensity, **self.settings).step)
        keys = np.asarray(jax.random.split(jax.random.PRNGKey(seed), 5))
        for key in keys[:length]:
            self.state, info = kernel(key, self.state)  # <- cause
            self.draws.append(np.asarray(self.state.position["slope"]))

    def save(self):
        return np.stack(self.draws)


def main():
    start = {"slope": np.zeros(2, np.float32), "offset": np.float32(0)}
    chain = Chain(start, 0.1)
    for chunk in range(4):
        chain.run(chunk, 5)
        print(chunk, chain.save().mean(axis=0))


main()
