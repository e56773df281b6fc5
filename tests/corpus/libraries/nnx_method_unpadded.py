# cause: shape
# subject: tokens
# old: i32[2,10]
# new: i32[2,6]
# pattern: unpadded

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(13, 8, rngs=rngs)
        self.out = nnx.Linear(8, 8, rngs=rngs)

    @nnx.jit
    def encode(self, tokens):
        return self.out(self.embed(tokens)).mean(axis=1)


encoder = nnx.jit(Encoder)(nnx.Rngs(0))
for sentence in ("a b c d", "a b c d e f g", "a b c d e f g h i j", "a b c d e f"):
    tokens = np.ones((2, len(sentence.split())), np.int32)
    encoder.encode(tokens)  # <- cause
