# cause: stable
# reason: what changes in training is an array: the share of the model's own tokens, the rate, the penalty

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Speller(eqx.Module):
    embed: eqx.nn.Embedding
    cell: eqx.nn.LSTMCell
    head: eqx.nn.Linear
    width: int = eqx.field(static=True)

    def __init__(self, width, key):
        keys = jax.random.split(key, 3)
        self.embed = eqx.nn.Embedding(7, width, key=keys[0])
        self.cell = eqx.nn.LSTMCell(width, width, key=keys[1])
        self.head = eqx.nn.Linear(width, 7, key=keys[2])
        self.width = width

    def __call__(self, tokens, own, key):
        def advance(carry, step):
            state, guess = carry
            token, key = step
            token = jnp.where(jax.random.uniform(key) < own, guess, token)
            state = self.cell(self.embed(token), state)
            logits = self.head(state[0])
            return (state, jnp.argmax(logits).astype(jnp.int32)), logits

        zeros = jnp.zeros(self.width)
        start = ((zeros, zeros), jnp.zeros((), jnp.int32))
        return jax.lax.scan(advance, start, (tokens, jax.random.split(key, len(tokens))))[1]


@eqx.filter_jit(donate="none")
def step(model, tokens, key, own, rate, penalty):
    @eqx.filter_value_and_grad
    def loss_fn(model):
        logits = jax.vmap(model, in_axes=(0, None, 0))(tokens[:, :-1], own, jax.random.split(key, len(tokens)))
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1)
        return -picked.mean() + penalty * jnp.sum(model.head.weight ** 2)

    loss, grads = loss_fn(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -rate * g, eqx.filter(grads, eqx.is_array))), loss


model = eqx.filter_jit(Speller)(6, jax.random.key(0))
words = np.array([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]], np.int32)
for epoch in range(4):
    own, rate = np.float32(0.25 * epoch), np.float32(0.1 * 0.9 ** epoch)
    model, loss = step(model, words, jax.random.key(epoch), own, rate, np.float32(1e-3))
    print(float(loss))
