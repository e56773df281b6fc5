# cause: stable
# reason: the prompt is read token by token as well, and the cache has the full length from the start

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, tokens, position):
        x = nn.Embed(11, 8)(tokens) + nn.Embed(12, 8)(position)[None, None]
        x = x + nn.MultiHeadDotProductAttention(num_heads=2, decode=True)(nn.LayerNorm()(x))
        return nn.Dense(11)(x)


decoder = Decoder()
variables = jax.jit(decoder.init)(jax.random.key(0), np.zeros((1, 12), np.int32), np.int32(0))


@jax.jit
def advance(params, cache, token, position):
    logits, changed = decoder.apply({"params": params, "cache": cache}, token, position, mutable=["cache"])
    return jnp.argmax(logits[:, -1:], axis=-1).astype(jnp.int32), changed["cache"]


for prompt in ([1, 4, 2], [3, 3, 5, 7, 9]):
    cache, answer = variables["cache"], []
    for position in range(8):
        token = np.array([[prompt[position]]], np.int32) if position < len(prompt) else answer[-1]
        token, cache = advance(variables["params"], cache, token, np.int32(position))
        answer.append(np.asarray(token))
    print(prompt, [int(one[0, 0]) for one in answer[len(prompt) - 1:]])
