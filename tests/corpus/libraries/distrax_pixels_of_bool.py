# cause: dtype
# subject: pixels
# old: f32[4,6]
# new: bool[4,6]
# reason: the validation pictures are made binary by a comparison, and stay of that type

import distrax
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def bound(params, key, pixels):
    hidden = jnp.tanh(pixels @ params["encode"])
    posterior = distrax.MultivariateNormalDiag(hidden, jnp.full(2, 0.5))
    prior = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
    logits = posterior.sample(seed=key) @ params["decode"]
    likelihood = distrax.Independent(distrax.Bernoulli(logits=logits), 1).log_prob(pixels)
    return jnp.mean(likelihood - posterior.kl_divergence(prior))


params = {"encode": np.ones((6, 2), np.float32), "decode": np.ones((2, 6), np.float32)}
images = np.random.default_rng(0).random((4, 6))
for pixels in (np.round(images).astype(np.float32), images > 0.5):
    bound(params, jax.random.key(0), pixels)  # <- cause
