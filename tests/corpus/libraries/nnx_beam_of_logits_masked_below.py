# cause: structure
# reason: a threshold for the unlikely tokens is None in the first configuration, and nothing is masked there

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


@dataclasses.dataclass(frozen=True)
class Sampling:
    temperature: float = 1.0
    min_p: float | None = None


class Model(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(9, 6, rngs=rngs)
        self.cell = nnx.Linear(6, 6, rngs=rngs)
        self.out = nnx.Linear(6, 9, rngs=rngs)

    def __call__(self, token, state):
        state = jnp.tanh(self.cell(state) + self.embed(token))
        return self.out(state), state


def pick(logits, key, sampling):
    if sampling.min_p is not None:
        p = jax.nn.softmax(logits)  # <- cause
        logits = jnp.where(p < sampling.min_p * p.max(-1, keepdims=True), -jnp.inf, logits)
    return jax.random.categorical(key, logits / sampling.temperature)


@nnx.jit(static_argnames="sampling")
def decode_step(model, token, state, key, *, sampling):
    logits, state = model(token, state)
    return pick(logits, key, sampling), state


model = nnx.jit(lambda rngs: Model(rngs))(nnx.Rngs(0))
for sampling in (Sampling(), Sampling(min_p=0.05)):
    token, state = np.zeros(2, np.int32), np.zeros((2, 6), np.float32)
    for position in range(3):
        key = np.array([0, position], np.uint32)
        token, state = decode_step(model, token, state, key, sampling=sampling)  # <- call
