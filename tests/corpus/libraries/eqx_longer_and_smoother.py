# cause: shape
# subject: tokens
# old: i32[2,6]
# new: i32[2,12]
# and
# cause: constant
# reason: twice the length and twice the smoothing, which have nothing to do with each other

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Model(eqx.Module):
    embedding: eqx.nn.Embedding
    head: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.embedding = eqx.nn.Embedding(7, 4, key=first)
        self.head = eqx.nn.Linear(4, 7, key=second)

    def __call__(self, tokens):
        return jax.vmap(self.head)(jnp.tanh(jax.vmap(self.embedding)(tokens)))


@eqx.filter_jit
def loss(model, tokens, smoothing):
    logits = jax.vmap(model)(tokens[:, :-1])
    targets = optax.smooth_labels(jax.nn.one_hot(tokens[:, 1:], 7), smoothing)  # <- cause 2
    return optax.softmax_cross_entropy(logits, targets).mean()


model = Model(jax.random.key(0))
for length, smoothing in ((6, 0.1), (12, 0.2)):
    loss(model, np.ones((2, length), np.int32), smoothing)  # <- cause, call 2
