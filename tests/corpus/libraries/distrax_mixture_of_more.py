# cause: shape
# subject: params['logits']
# old: f32[2]
# new: f32[3]

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def mixture(params):
    return distrax.MixtureSameFamily(
        mixture_distribution=distrax.Categorical(logits=params["logits"]),
        components_distribution=distrax.Normal(loc=params["means"], scale=1.0))


@jax.jit
def gradient(params, x):
    return jax.grad(lambda params: -mixture(params).log_prob(x).sum())(params)


x = np.ones(6, np.float32)
for components in (2, 3):
    gradient({"logits": np.zeros(components, np.float32),  # <- cause
              "means": np.arange(components, dtype=np.float32)}, x)
