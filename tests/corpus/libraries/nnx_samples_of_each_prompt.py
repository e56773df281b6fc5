# cause: size
# reason: each prompt is repeated as often as the caller asks, a Python number

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Model(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(7, 4, rngs=rngs)
        self.out = nnx.Linear(4, 7, rngs=rngs)

    def __call__(self, tokens):
        return self.out(jnp.tanh(self.embed(tokens)).mean(1))


@functools.partial(nnx.jit, static_argnames="samples")
def sample(model, prompts, key, samples):
    prompts = jnp.repeat(prompts, samples, axis=0)  # <- cause
    logits = model(prompts)
    return jax.random.categorical(key, logits)


model = Model(nnx.Rngs(0))
prompts = np.ones((3, 5), np.int32)
for samples in (2, 4):
    sample(model, prompts, jax.random.key(1), samples=samples)  # <- call
