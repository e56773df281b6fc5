# cause: shape
# subject: tokens
# old: i32[1,8]
# new: i32[1,12]
# advice: pad
# reason: prompts are padded to the next multiple of four, so each new multiple is a program

import jax
import numpy as np
from flax import nnx


class Reader(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(20, 8, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(num_heads=2, in_features=8, decode=False, rngs=rngs)
        self.out = nnx.Linear(8, 20, rngs=rngs)

    def __call__(self, tokens):
        mask = nnx.make_causal_mask(tokens)
        return self.out(self.attention(self.embed(tokens), mask=mask))


@nnx.jit
def forward(model, tokens):
    return model(tokens)


def serve(model, prompt):
    width = -(-len(prompt) // 4) * 4
    tokens = np.zeros((1, width), np.int32)
    tokens[0, : len(prompt)] = prompt
    logits = np.asarray(forward(model, tokens))  # <- cause
    return logits[0, len(prompt) - 1].argmax()


model = Reader(nnx.Rngs(0))
for length in (6, 7, 8, 11):
    serve(model, range(1, length + 1))  # <- call
