# cause: stable
# reason: the step size is a Python float that changes, an argument that is always weak

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(32, 3)).astype(np.float32)


def logprior(w):
    return -0.5 * jnp.sum(w ** 2)


def loglikelihood(w, row):
    return -jax.nn.softplus(-row @ w)


sgld = blackjax.sgld(blackjax.sgmcmc.gradients.grad_estimator(logprior, loglikelihood, len(x)))
step = jax.jit(sgld.step)
w = sgld.init(np.zeros(3, np.float32))
for count, key in enumerate(jax.random.split(jax.random.key(0), 6)):
    rows = rng.choice(len(x), 8, replace=False)
    w = step(key, w, x[rows], 1e-2 / (1 + count))
print(np.asarray(w))
