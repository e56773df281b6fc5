# cause: size
# old: 2
# new: 3
# reason: the number of beams is static; all that the search carries has that size

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, token):
        return nn.log_softmax(nn.Dense(9)(nn.tanh(nn.Embed(9, 6)(token))))


model = Decoder()
params = jax.jit(model.init)(jax.random.key(0), np.zeros(2, np.int32))


@functools.partial(jax.jit, static_argnames=("beams", "length"))
def search(params, start, beams, length):
    scores, tokens = jax.lax.top_k(model.apply(params, start), beams)  # <- cause

    def extend(_, carry):
        scores, tokens = carry
        log_probs = scores[:, None] + model.apply(params, tokens)
        scores, flat = jax.lax.top_k(log_probs.reshape(-1), scores.shape[0])
        return scores, (flat % log_probs.shape[1]).astype(tokens.dtype)

    return jax.lax.fori_loop(0, length, extend, (scores, tokens))


for beams in (2, 3):
    search(params, np.int32(1), beams=beams, length=5)  # <- call
