# cause: stable
# reason: sentences and the last batch are padded on the host; training and test have steps of their own

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

LENGTH, BATCH, WORDS = 24, 8, 40


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, tokens, train):
        x = nn.Embed(WORDS, 12)(tokens)
        x = nn.Dropout(0.1, deterministic=not train)(x)
        x = nn.relu(nn.Conv(12, kernel_size=(3,))(x))
        return nn.Dense(5)(x)


model = Tagger()
optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 4, 20))


def loss_fn(params, batch, train, rngs=None):
    logits = model.apply(params, batch["tokens"], train, rngs=rngs)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch["tags"])
    return jnp.sum(losses * batch["mask"]) / jnp.maximum(jnp.sum(batch["mask"]), 1)


@jax.jit
def train_step(params, opt_state, batch, key, index):
    rngs = {"dropout": jax.random.fold_in(key, index)}
    loss, grads = jax.value_and_grad(loss_fn)(params, batch, True, rngs)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, index + 1


@jax.jit
def test_step(params, batch):
    return loss_fn(params, batch, False)


def collate(sentences):
    batch = {"tokens": np.zeros((BATCH, LENGTH), np.int32), "tags": np.zeros((BATCH, LENGTH), np.int32),
             "mask": np.zeros((BATCH, LENGTH), np.float32)}
    for row, sentence in enumerate(sentences):
        batch["tokens"][row, :len(sentence)] = sentence
        batch["tags"][row, :len(sentence)] = sentence % 5
        batch["mask"][row, :len(sentence)] = 1
    return batch


rng = np.random.default_rng(0)
corpus = [rng.integers(1, WORDS, rng.integers(5, LENGTH)) for _ in range(29)]
params = jax.jit(model.init, static_argnums=2)(jax.random.key(0), np.zeros((1, LENGTH), np.int32), False)
opt_state = jax.jit(optimizer.init)(params)
key, index = jax.random.key(1), np.int32(0)
for epoch in range(2):
    for start in range(0, 29, BATCH):
        params, opt_state, loss, index = train_step(params, opt_state, collate(corpus[start:start + BATCH]), key, index)
    print(epoch, float(loss), float(test_step(params, collate(corpus[:3]))))
