# cause: shape
# subject: tokens
# pattern: unpadded

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

CAPTIONS = [[7, 3, 9, 2, 4], [5, 5, 1, 8, 2, 2, 6, 1, 3], [4, 2, 7], [9, 9, 1, 6, 3, 2, 8],
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 2], [3, 3, 8, 1], [6, 2, 9, 9, 4, 1], [2, 1],
            [8, 8, 4, 3, 7, 2, 6, 6], [5, 1, 1]]


class Captioner(nn.Module):
    vocabulary: int = 10

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocabulary, 16)(tokens)
        x = nn.RNN(nn.GRUCell(features=16))(x)
        return nn.Dense(self.vocabulary)(x)


def collate(captions):
    longest = max(map(len, captions))
    rows = np.zeros((len(captions), longest), np.int32)
    for row, caption in zip(rows, captions):
        row[:len(caption)] = caption
    return rows


@jax.jit
def train_step(state, tokens):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, tokens[:, :-1])
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
        return (losses * (tokens[:, 1:] > 0)).sum() / (tokens[:, 1:] > 0).sum()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


model = Captioner()
params = jax.jit(model.init)(jax.random.key(0), jnp.zeros((2, 8), jnp.int32))["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))
for epoch in range(2):
    for at in range(0, len(CAPTIONS), 2):
        state, loss = train_step(state, collate(CAPTIONS[at:at + 2]))  # <- cause
    print("epoch", epoch, "loss", float(loss))
