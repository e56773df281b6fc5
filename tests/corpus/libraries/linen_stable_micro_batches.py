# cause: stable
# reason: optax.MultiSteps counts on the device; training and test are two functions, and the data is padded

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

LENGTH = 12


class Model(nn.Module):
    @nn.compact
    def __call__(self, tokens, deterministic=True):
        mask = nn.make_attention_mask(tokens > 0, tokens > 0)
        x = nn.Embed(30, 16)(tokens)
        x = x + nn.SelfAttention(num_heads=2)(nn.LayerNorm()(x), mask)
        x = nn.Dropout(0.1, deterministic=deterministic)(x)
        return nn.Dense(2)(x.mean(1))


class State(train_state.TrainState):
    key: jax.Array


@jax.jit
def train_step(state, batch):
    key = jax.random.fold_in(state.key, state.step)

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["tokens"], False, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(state, batch):
    return (state.apply_fn({"params": state.params}, batch["tokens"]).argmax(-1) == batch["label"]).sum()


def batches(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        tokens = np.zeros((6, LENGTH), np.int32)
        for row in tokens:
            length = rng.integers(3, LENGTH)
            row[:length] = rng.integers(1, 30, length)
        yield {"tokens": tokens, "label": rng.integers(0, 2, 6).astype(np.int32)}


model = Model()
params = jax.jit(model.init)(jax.random.key(0), np.zeros((1, LENGTH), np.int32))["params"]
tx = optax.MultiSteps(optax.adamw(optax.cosine_decay_schedule(1e-3, 100)), every_k_schedule=2)
state = State.create(apply_fn=model.apply, params=params, tx=tx, key=jax.random.key(1))
for epoch in range(2):
    for batch in batches(epoch, 6):
        state, loss = train_step(state, batch)
    print(epoch, float(loss), sum(int(eval_step(state, batch)) for batch in batches(9, 2)) / 12)
