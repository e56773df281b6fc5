# cause: constant
# subject: max_new_tokens
# old: 3
# new: 6
# reason: how many tokens are generated is static: the bound of the loop; the buffer has a fixed length

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Model(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(10)(nn.Embed(10, 6)(tokens))


@functools.partial(jax.jit, static_argnames=["max_new_tokens"])
def generate(params, tokens, length, max_new_tokens):
    def write_next(number, tokens):
        logits = Model().apply(params, tokens)
        token = logits[0, length + number - 1].argmax()
        return tokens.at[0, length + number].set(token.astype(tokens.dtype))

    return jax.lax.fori_loop(0, max_new_tokens, write_next, tokens)  # <- cause


def answer(params, prompt, **options):
    tokens = np.zeros((1, 16), np.int32)
    tokens[0, : len(prompt)] = prompt
    return generate(params, tokens, np.int32(len(prompt)), **options)  # <- call


params = jax.jit(Model().init)(jax.random.key(0), np.zeros((1, 16), np.int32))
answer(params, [1, 2, 3], max_new_tokens=3)
answer(params, [4, 5], max_new_tokens=3)
answer(params, [1, 2, 3], max_new_tokens=6)
