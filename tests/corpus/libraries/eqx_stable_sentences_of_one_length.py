# cause: stable
# reason: sentences of any length are padded to one, and a mask says where they end

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

LONGEST = 12


class Classifier(eqx.Module):
    embedding: eqx.nn.Embedding
    attention: eqx.nn.MultiheadAttention
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.embedding = eqx.nn.Embedding(30, 8, key=keys[0])
        self.attention = eqx.nn.MultiheadAttention(2, 8, key=keys[1])
        self.norm = eqx.nn.LayerNorm(8)
        self.head = eqx.nn.Linear(8, 2, key=keys[2])

    def __call__(self, tokens, mask):
        x = jax.vmap(self.embedding)(tokens)
        x = x + self.attention(x, x, x, mask=jnp.broadcast_to(mask, (LONGEST, LONGEST)))
        x = jax.vmap(self.norm)(x)
        return self.head(jnp.sum(x * mask[:, None], 0) / jnp.sum(mask))


def collate(sentences):
    tokens = np.zeros((len(sentences), LONGEST), np.int32)
    mask = np.zeros((len(sentences), LONGEST), bool)
    for row, sentence in enumerate(sentences):
        tokens[row, :len(sentence)], mask[row, :len(sentence)] = sentence, True
    return tokens, mask


@eqx.filter_jit
def make_step(model, opt_state, tokens, mask, labels):
    @eqx.filter_value_and_grad
    def loss_fn(model):
        logits = jax.vmap(model)(tokens, mask)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = loss_fn(model)
    updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), opt_state, loss


rng = np.random.default_rng(0)
model = Classifier(jax.random.key(0))
optimizer = optax.lion(1e-3)
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
for step in range(4):
    sentences = [rng.integers(1, 30, rng.integers(3, LONGEST)) for _ in range(4)]
    labels = np.array([len(sentence) % 2 for sentence in sentences], np.int32)
    model, opt_state, loss = make_step(model, opt_state, *collate(sentences), labels)
    if step % 2 == 0:
        print(step, float(loss))
