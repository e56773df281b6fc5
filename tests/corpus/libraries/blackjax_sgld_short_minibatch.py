# cause: shape
# subject: minibatch
# old: f32[16,3]
# new: f32[4,3]
# advice: pad

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

DATA = np.ones((36, 3), np.float32)


def logprior(position):
    return -0.5 * jnp.sum(position ** 2)


def loglikelihood(position, x):
    return -0.5 * jnp.sum((x - position) ** 2)


grad_estimator = blackjax.sgmcmc.gradients.grad_estimator(logprior, loglikelihood, len(DATA))
sgld = blackjax.sgld(grad_estimator)
step = jax.jit(sgld.step)
position = sgld.init(jnp.zeros(3))
for start in range(0, len(DATA), 16):
    key = jax.random.key(start)
    position = step(key, position, DATA[start:start + 16], np.float32(1e-3))  # <- cause
