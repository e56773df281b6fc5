# cause: nested_jit
# subject: attend
# old: part of its caller
# new: a jit of its own
# program: jit_train_step
# run: PROFILE=0
# run: PROFILE=1
# reason: for a profile the attention is jitted by itself, so that it has a name of its own there

import os

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


def attend(query, key, value):
    weights = nn.softmax(jnp.einsum("bqd,bkd->bqk", query, key) * 0.5)
    return jnp.einsum("bqk,bkd->bqd", weights, value)


if os.environ["PROFILE"] == "1":
    attend = jax.jit(attend)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        query, key, value = jnp.split(nn.Dense(12)(x), 3, axis=-1)
        mixed = attend(query, key, value)  # <- cause
        return x + nn.Dense(4)(mixed)


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Block()(x)
        return nn.Dense(2)(x.mean(axis=1))


model = Encoder()
optimizer = optax.adam(1e-3)


@jax.jit
def train_step(params, opt_state, x, labels):
    def loss_fn(params):
        logits = model.apply(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
x = rng.normal(size=(4, 5, 4)).astype(np.float32)
labels = np.array([0, 1, 1, 0], np.int32)
params = jax.jit(model.init)(jax.random.key(0), x)
opt_state = jax.jit(optimizer.init)(params)
for _ in range(3):
    params, opt_state, loss = train_step(params, opt_state, x, labels)  # <- call
print(float(loss))
