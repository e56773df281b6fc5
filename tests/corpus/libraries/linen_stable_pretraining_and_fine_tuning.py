# cause: stable
# reason: an encoder is trained on masked tokens, then with a classifier on it; the best parameters are written and read back

import pathlib
import tempfile

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import serialization, traverse_util
from flax.training.train_state import TrainState

VOCABULARY, MASK, LENGTH = 11, 10, 6


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, tokens, deterministic):
        x = nn.Embed(VOCABULARY, 8)(tokens)
        x = x + self.param("places", nn.initializers.normal(0.02), (LENGTH, 8))
        y = nn.LayerNorm()(x)
        x = x + nn.SelfAttention(2, dropout_rate=0.1, deterministic=deterministic)(y)
        return x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))


class Masked(nn.Module):
    @nn.compact
    def __call__(self, tokens, deterministic=True):
        return nn.Dense(VOCABULARY)(Encoder(name="encoder")(tokens, deterministic))


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, tokens, deterministic=True):
        return nn.Dense(2, name="head")(Encoder(name="encoder")(tokens, deterministic).mean(axis=1))


@jax.jit
def pretrain_step(state, key, tokens):
    hidden, dropout = jax.random.split(key)
    chosen = jax.random.bernoulli(hidden, 0.3, tokens.shape)

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, jnp.where(chosen, MASK, tokens), False,
                                rngs={"dropout": dropout})
        each = optax.softmax_cross_entropy_with_integer_labels(logits, tokens)
        return jnp.sum(each * chosen) / jnp.maximum(jnp.sum(chosen), 1)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def finetune_step(state, key, tokens, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, tokens, False, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def accuracy(params, tokens, labels):
    return jnp.mean(Classifier().apply({"params": params}, tokens).argmax(-1) == labels)


def create(model, key, tx):
    params = jax.jit(model.init)(key, np.zeros((1, LENGTH), np.int32))["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=tx)
    return state.replace(step=jnp.asarray(0, jnp.int32))


def group(path, _):
    return "head" if path[0] == "head" else "body"


rng = np.random.default_rng(0)
tokens = rng.integers(0, MASK, size=(16, LENGTH)).astype(np.int32)
labels = (tokens[:, 0] > 4).astype(np.int32)
pretraining = create(Masked(), jax.random.key(0), optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 10)))
draws = jax.random.key(1)
for step in range(4):
    pretraining, loss = pretrain_step(pretraining, jax.random.fold_in(draws, step), tokens[4 * step:4 * step + 4])
tx = optax.multi_transform({"body": optax.adam(1e-3), "head": optax.adam(1e-2)},
                           lambda params: traverse_util.path_aware_map(group, params))
state = create(Classifier(), jax.random.key(2), tx)
state = state.replace(params=dict(state.params, encoder=pretraining.params["encoder"]))
best, path = -1.0, pathlib.Path(tempfile.mkdtemp()) / "best.msgpack"
for epoch in range(2):
    for step in range(2):
        rows = slice(6 * step, 6 * step + 6)
        key = jax.random.fold_in(draws, 4 + 2 * epoch + step)
        state, loss = finetune_step(state, key, tokens[rows], labels[rows])
    score = float(accuracy(state.params, tokens[12:], labels[12:]))
    if score > best:
        best = score
        path.write_bytes(serialization.to_bytes(state))
state = serialization.from_bytes(state, path.read_bytes())
state, loss = finetune_step(state, jax.random.fold_in(draws, 11), tokens[:6], labels[:6])
print(best, float(accuracy(state.params, tokens[12:], labels[12:])), int(state.step))
