# cause: constant
# subject: weight
# pattern: counter
# program: jit_train_step
# advice: array
# reason: the weight of the divergence is computed on the host for each step, and is static

import functools

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

PERIOD = 12
optimizer = optax.adam(1e-3)


def cyclical(step):
    """Rises in the first half of each period, then stays."""
    return min(1.0, 2 * ((step % PERIOD) + 1) / PERIOD)


def encode(params, x):
    hidden = jnp.tanh(x @ params["encoder"])
    return distrax.MultivariateNormalDiag(hidden @ params["mean"],
                                          jax.nn.softplus(hidden @ params["scale"]) + 1e-3)


def decode(params, z):
    return distrax.Independent(distrax.Bernoulli(logits=z @ params["decoder"]), 1)


def negative_elbo(params, key, x, weight):
    posterior = encode(params, x)
    prior = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
    likelihood = decode(params, posterior.sample(seed=key)).log_prob(x)
    divergence = posterior.kl_divergence(prior)
    return jnp.mean(weight * divergence - likelihood)  # <- cause


@functools.partial(jax.jit, static_argnames="weight")
def train_step(params, opt_state, key, x, *, weight):
    grads = jax.grad(negative_elbo)(params, key, x, weight)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
shapes = {"encoder": (6, 8), "mean": (8, 2), "scale": (8, 2), "decoder": (2, 6)}
params = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
opt_state = optimizer.init(params)
x = (rng.random((5, 6)) < 0.5).astype(np.float32)
for step in range(4):
    key = jax.random.key(step)
    params, opt_state = train_step(params, opt_state, key, x, weight=cyclical(step))  # <- call
