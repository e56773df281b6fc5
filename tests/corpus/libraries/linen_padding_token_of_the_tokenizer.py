# cause: constant
# subject: pad
# old: 0
# new: 2
# reason: another tokenizer pads with another token; its number is static

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(4)(nn.relu(nn.Dense(6)(nn.Embed(9, 6)(tokens))))


model = Tagger()
tokens = np.arange(12, dtype=np.int32).reshape(2, 6) % 9
params = jax.jit(model.init)(jax.random.key(0), tokens)


@functools.partial(jax.jit, static_argnames="pad")
def evaluate(params, tokens, tags, pad):
    right = model.apply(params, tokens).argmax(-1) == tags
    real = tokens != pad  # <- cause
    return (right & real).sum() / real.sum()


for pad in (0, 2):
    evaluate(params, tokens, tokens % 4, pad=pad)  # <- call
