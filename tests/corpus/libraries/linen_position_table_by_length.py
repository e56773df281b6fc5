# cause: shape
# subject: tokens
# old: i32[2,6]
# new: i32[2,10]
# reason: the table of positions and the causal mask are made in NumPy at the length of the tokens, so they follow

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


def position_table(length, width):
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)


class Block(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(13, 8)(tokens)
        x = x + position_table(tokens.shape[1], 8)
        mask = np.tril(np.ones((tokens.shape[1], tokens.shape[1]), bool))[None, None]
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
        return nn.Dense(13)(x)


model = Block()
params = jax.jit(model.init)(jax.random.key(0), np.ones((2, 4), np.int32))


@jax.jit
def log_likelihood(params, tokens):
    logits = model.apply(params, tokens)
    return jnp.take_along_axis(nn.log_softmax(logits), tokens[..., None], axis=-1).sum()


for length in (6, 10):
    log_likelihood(params, np.ones((2, length), np.int32))  # <- cause
