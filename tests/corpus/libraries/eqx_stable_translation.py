# cause: stable
# reason: a training and an evaluation function of their own; sentences are padded, the rate is an array

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

LENGTH = 6


class Translator(eqx.Module):
    source: eqx.nn.Embedding
    encoder: eqx.nn.GRUCell
    dropout: eqx.nn.Dropout
    head: eqx.nn.Linear

    def __init__(self, key):
        first, second, third = jax.random.split(key, 3)
        self.source = eqx.nn.Embedding(9, 4, key=first)
        self.encoder = eqx.nn.GRUCell(4, 5, key=second)
        self.dropout = eqx.nn.Dropout(0.2)
        self.head = eqx.nn.Linear(5, 9, key=third)

    def __call__(self, tokens, key=None):
        def advance(hidden, token):
            hidden = self.encoder(self.source(token), hidden)
            return hidden, hidden

        _, hidden = jax.lax.scan(advance, jnp.zeros(5), tokens)
        return jax.vmap(self.head)(self.dropout(hidden, key=key))


def loss_fn(model, tokens, targets, keys):
    logits = jax.vmap(model)(tokens, keys)
    each = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
    return jnp.sum(each * (targets != 0)) / jnp.sum(targets != 0)


@eqx.filter_jit
def train_step(model, opt_state, tokens, targets, key, rate):
    keys = jax.random.split(key, len(tokens))
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, tokens, targets, keys)
    updates, opt_state = optimizer.update(grads, opt_state)
    updates = jax.tree.map(lambda u: -rate * u, updates)
    return eqx.apply_updates(model, updates), opt_state, loss


@eqx.filter_jit
def eval_step(model, tokens, targets):
    return loss_fn(eqx.nn.inference_mode(model), tokens, targets, None)


def collate(sentences):
    return np.stack([np.pad(np.asarray(one, np.int32), (0, LENGTH - len(one))) for one in sentences])


optimizer = optax.scale_by_adam()
model = eqx.filter_jit(Translator)(jax.random.key(0))
opt_state = eqx.filter_jit(optimizer.init)(eqx.filter(model, eqx.is_inexact_array))
data = [collate(pair) for pair in (([1, 2, 3], [4, 5]), ([1, 2, 3, 4, 5, 6], [2]), ([3, 1], [7, 8, 1]))]
for epoch in range(2):
    for number, tokens in enumerate(data):
        key, rate = jax.random.key(10 * epoch + number), jnp.asarray(0.1 * 0.5 ** epoch, jnp.float32)
        model, opt_state, loss = train_step(model, opt_state, tokens, tokens, key, rate)
    print(float(np.mean([eval_step(model, tokens, tokens) for tokens in data])))
