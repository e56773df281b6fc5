# cause: stable
# reason: distributions go into and come out of jitted functions; the flag of exploration is an array

import distrax
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def belief(params, observation):
    hidden = jnp.tanh(observation @ params["w"])
    return distrax.Normal(hidden, jax.nn.softplus(params["scale"]))


@jax.jit
def step(params, old, observation, key, exploring):
    def loss_fn(params):
        new = belief(params, observation)
        sample, log_prob = new.sample_and_log_prob(seed=key)
        chosen = jnp.where(exploring, sample, new.mode())
        return old.kl_divergence(new).mean() + 0.01 * log_prob.mean() + (chosen ** 2).mean()

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss_fn)(params))


rng = np.random.default_rng(0)
params = {"w": jnp.asarray(rng.normal(size=(4, 2)), jnp.float32), "scale": jnp.zeros(2)}
for number in range(4):
    observation = rng.normal(size=(5, 4)).astype(np.float32)
    old = belief(params, observation)
    params = step(params, old, observation, jax.random.key(number), number < 2)
print(np.asarray(params["scale"]))
