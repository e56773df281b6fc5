# cause: shape
# subject: tokens
# old: i32[3,9]
# new: i32[3,6]
# pattern: unpadded
# advice: pad
# reason: the collate function pads to the longest sentence of each batch

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Tagger(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(30, 8, rngs=rngs)
        self.out = nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, tokens):
        return self.out(nnx.relu(self.embed(tokens)))


def collate(sentences):
    longest = max(map(len, sentences))
    tokens = np.zeros((len(sentences), longest), np.int32)
    for row, sentence in zip(tokens, sentences):
        row[: len(sentence)] = sentence
    return tokens


@nnx.jit
def train_step(model, optimizer, tokens):
    def loss_fn(model):
        losses = optax.softmax_cross_entropy_with_integer_labels(model(tokens), tokens % 4)
        return jnp.sum(losses * (tokens > 0)) / jnp.sum(tokens > 0)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


corpus = [
    [[3, 4], [5, 6, 7], [8]],
    [[1, 2, 3, 4, 5, 6, 7], [2], [9, 9]],
    [[4, 4, 4, 4], [7, 7], [5]],
    [[1] * 9, [2] * 3, [3] * 5],
    [[6, 5], [4, 3, 2, 1, 2, 3], [7]],
]
model = Tagger(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
for sentences in corpus:
    loss = train_step(model, optimizer, collate(sentences))  # <- cause
