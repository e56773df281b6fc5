# cause: shape
# subject: observations
# old: f32[6]
# new: f32[10]
# reason: a longer recording of the same chain

import distrax
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def decode(params, observations):
    chain = distrax.HMM(
        init_dist=distrax.Categorical(logits=params["init"]),
        trans_dist=distrax.Categorical(logits=params["trans"]),
        obs_dist=distrax.Normal(params["loc"], jnp.ones(3)))
    alphas, betas, marginals, log_prob = chain.forward_backward(observations)
    return chain.viterbi(observations), marginals, log_prob


params = {"init": np.zeros(3, np.float32), "trans": np.eye(3, dtype=np.float32),
          "loc": np.arange(3, dtype=np.float32)}
for length in (6, 10):
    decode(params, np.linspace(0, 2, length, dtype=np.float32))  # <- cause
