# cause: stable
# reason: the cache has its full length from the start and is written at an index that is an array

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Decoder(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(12, 8, rngs=rngs)
        self.project = nnx.Linear(8, 24, rngs=rngs)
        self.out = nnx.Linear(8, 12, rngs=rngs)

    def __call__(self, token, cache, position):
        query, key, value = jnp.split(self.project(self.embed(token)), 3, axis=-1)
        keys = jax.lax.dynamic_update_slice(cache["keys"], key[None], (position, 0))
        values = jax.lax.dynamic_update_slice(cache["values"], value[None], (position, 0))
        scores = jnp.where(jnp.arange(len(keys)) <= position, keys @ query, -jnp.inf)
        return self.out(jax.nn.softmax(scores) @ values), {"keys": keys, "values": values}


@nnx.jit
def decode(model, token, cache, position):
    logits, cache = model(token, cache, position)
    return logits.argmax().astype(jnp.int32), cache, position + 1


def generate(model, prompt, new_tokens, length=16):
    cache = {name: np.zeros((length, 8), np.float32) for name in ("keys", "values")}
    position, answer = np.int32(0), []
    for token in prompt:
        token, cache, position = decode(model, np.int32(token), cache, position)
    for _ in range(new_tokens):
        answer.append(int(token))
        token, cache, position = decode(model, token, cache, position)
    return answer


model = Decoder(nnx.Rngs(0))
print(generate(model, [1, 2, 3], 4))
print(generate(model, [5], 2))
