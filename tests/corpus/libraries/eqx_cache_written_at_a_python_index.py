# cause: constant
# old: 2
# new: 3
# pattern: counter
# advice: array
# reason: the place in the cache is a Python number of the decoding loop, which filter_jit makes static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

LENGTH, WIDTH = 8, 6


class Decoder(eqx.Module):
    embedding: eqx.nn.Embedding
    projection: eqx.nn.Linear
    head: eqx.nn.Linear

    def __init__(self, key):
        first, second, third = jax.random.split(key, 3)
        self.embedding = eqx.nn.Embedding(9, WIDTH, key=first)
        self.projection = eqx.nn.Linear(WIDTH, 3 * WIDTH, key=second)
        self.head = eqx.nn.Linear(WIDTH, 9, key=third)

    def __call__(self, token, cache, index):
        q, k, v = jnp.split(self.projection(self.embedding(token)), 3)
        cache = cache.at[:, index].set(jnp.stack([k, v]))  # <- cause
        filled = jnp.any(cache[0] != 0, axis=-1)
        scores = jnp.where(filled, cache[0] @ q / jnp.sqrt(1.0 * WIDTH), -jnp.inf)
        return self.head(jax.nn.softmax(scores) @ cache[1]), cache


@eqx.filter_jit
def next_token(model, token, cache, index):
    logits, cache = model(token, cache, index)
    return jnp.argmax(logits), cache


model = eqx.filter_jit(Decoder)(jax.random.key(0))
token, cache = jnp.asarray(np.int32(1)), jnp.zeros((2, LENGTH, WIDTH))
for index in range(4):
    token, cache = next_token(model, token, cache, index)  # <- call
