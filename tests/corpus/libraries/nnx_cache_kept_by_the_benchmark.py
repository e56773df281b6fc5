# cause: donation
# program: jit_decode
# advice: donate_argnums
# reason: the benchmark jits the step of the decoder without donation, the server with it

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

LENGTH, WIDTH, VOCABULARY = 8, 6, 11


class Decoder(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
        self.query = nnx.Linear(WIDTH, WIDTH, rngs=rngs)
        self.head = nnx.Linear(WIDTH, VOCABULARY, rngs=rngs)

    def __call__(self, token, cache, position):
        x = self.embed(token)
        cache = jax.lax.dynamic_update_slice(cache, x[:, None], (0, position, 0))
        seen = jnp.arange(LENGTH) <= position
        weights = jnp.einsum("bw,blw->bl", self.query(x), cache)
        weights = jax.nn.softmax(jnp.where(seen, weights, -1e9))
        return self.head(jnp.einsum("bl,blw->bw", weights, cache)), cache


graph, state = nnx.split(Decoder(nnx.Rngs(0)))


def decode(state, cache, token, position):
    logits, cache = nnx.merge(graph, state)(token, cache, position)
    return logits.argmax(-1).astype(jnp.int32), cache


def generate(step, tokens):
    cache = jnp.zeros((2, LENGTH, WIDTH))
    token = np.array([1, 2], np.int32)
    for position in range(tokens):
        token, cache = step(state, cache, token, np.int32(position))  # <- cause
    return np.asarray(token)


def benchmark():
    return generate(jax.jit(decode), 2)


def serve():
    return generate(jax.jit(decode, donate_argnums=1), 4)


print(benchmark())
print(serve())
