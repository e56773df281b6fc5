# cause: stable
# reason: the prompt is read and the answer written by one function, a token at a time, into a cache of one length

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(11, 8)(tokens)
        x = x + nn.MultiHeadDotProductAttention(num_heads=2, decode=True)(nn.LayerNorm()(x))
        return nn.Dense(11)(nn.LayerNorm()(x))


model = Decoder()
variables = model.init(jax.random.key(0), np.zeros((2, 12), np.int32))
params = variables["params"]


@jax.jit
def decode(params, cache, token, key, temperature):
    logits, updated = model.apply({"params": params, "cache": cache}, token, mutable=["cache"])
    logits = logits[:, -1] / temperature
    picked = jnp.where(temperature > 0.1, jax.random.categorical(key, logits), logits.argmax(-1))
    return updated["cache"], picked[:, None].astype(jnp.int32)


def generate(prompt, new_tokens, temperature):
    cache, key = variables["cache"], jax.random.key(1)
    answer = []
    for at in range(prompt.shape[1] + new_tokens - 1):
        key, draw = jax.random.split(key)
        token = prompt[:, at:at + 1] if at < prompt.shape[1] else token
        cache, token = decode(params, cache, token, draw, np.float32(temperature))
        if at >= prompt.shape[1] - 1:
            answer.append(np.asarray(token))
    return np.concatenate(answer, 1)


print(generate(np.ones((2, 3), np.int32), 4, 0.7))
print(generate(np.ones((2, 5), np.int32), 2, 1.0))
