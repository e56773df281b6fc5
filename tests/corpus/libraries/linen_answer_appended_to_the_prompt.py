# cause: shape
# subject: tokens
# old: i32[1,6]
# new: i32[1,7]
# pattern: unpadded
# advice: full length | pad
# reason: each answered token is appended to the prompt, and all of it is read again

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY = 11


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        length = tokens.shape[1]
        x = nn.Embed(VOCABULARY, 8)(tokens)
        x = x + self.param("positions", nn.initializers.normal(0.02), (16, 8))[:length]
        mask = nn.make_causal_mask(tokens)
        x = x + nn.SelfAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
        return nn.Dense(VOCABULARY)(x)


decoder = Decoder()


@jax.jit
def next_token(params, tokens):
    logits = decoder.apply(params, tokens)
    return jnp.argmax(logits[:, -1], axis=-1)


def complete(params, prompt, count):
    tokens = prompt
    for _ in range(count):
        answered = np.asarray(next_token(params, tokens))  # <- cause
        tokens = np.concatenate([tokens, answered[:, None]], axis=1).astype(np.int32)
    return tokens


prompt = np.array([[1, 5, 2, 7]], np.int32)
params = jax.jit(decoder.init)(jax.random.key(0), prompt)
print(complete(params, prompt, 4))
