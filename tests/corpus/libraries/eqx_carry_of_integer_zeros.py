# cause: dtype
# subject: hidden
# old: i32[2,5]
# new: f32[2,5]
# reason: the first state is made like the tokens and so of integers, the later ones come out of the cell

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Tagger(eqx.Module):
    embedding: jax.Array
    cell: eqx.nn.GRUCell
    head: eqx.nn.Linear

    def __init__(self, key):
        first, second, third = jax.random.split(key, 3)
        self.embedding = jax.random.normal(first, (7, 4))
        self.cell = eqx.nn.GRUCell(4, 5, key=second)
        self.head = eqx.nn.Linear(5, 3, key=third)

    def __call__(self, token, hidden):
        hidden = self.cell(self.embedding[token], hidden)
        return self.head(hidden), hidden


@eqx.filter_jit
def advance(model, tokens, hidden):
    return jax.vmap(model)(tokens, hidden)


model = eqx.filter_jit(Tagger)(jax.random.key(0))
text = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], np.int32)
hidden = np.zeros_like(text, shape=(2, 5))
for column in range(3):
    logits, hidden = advance(model, text[:, column], hidden)  # <- cause
