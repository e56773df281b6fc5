# cause: stable
# reason: the host tunes the step size of the chains, which is an argument of the kernel

import blackjax
import distrax
import jax
import jax.numpy as jnp
import numpy as np

CHAINS = 3
kernel = blackjax.mala.build_kernel()


def log_density(position):
    mixture = distrax.MixtureSameFamily(
        distrax.Categorical(logits=jnp.zeros(2)),
        distrax.MultivariateNormalDiag(jnp.array([[-1.0, 0.0], [1.0, 0.5]]), jnp.ones((2, 2))))
    return mixture.log_prob(position)


@jax.jit
def start(positions):
    return jax.vmap(lambda at: blackjax.mala.init(at, log_density))(positions)


@jax.jit
def sweep(key, states, step_size):
    def one(states, key):
        keys = jax.random.split(key, CHAINS)
        states, info = jax.vmap(lambda k, s: kernel(k, s, log_density, step_size))(keys, states)
        return states, info.acceptance_rate

    states, rates = jax.lax.scan(one, states, jax.random.split(key, 5))
    return states, rates.mean()


def tuned(step_size, rate):
    return np.float32(step_size * (1.1 if rate > 0.57 else 0.9))


rng = np.random.default_rng(0)
states = start(rng.normal(size=(CHAINS, 2)).astype(np.float32))
step_size = np.float32(0.5)
for number in range(5):
    states, rate = sweep(jax.random.key(number), states, step_size)
    step_size = tuned(step_size, float(rate))
print(step_size)
