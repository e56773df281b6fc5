# cause: stable
# reason: fixed batches, evaluation with running averages, and a checkpoint in the middle

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import serialization


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
        return nn.Dense(3)(x.reshape(x.shape[0], -1))


net = Net()
optimizer = optax.adamw(optax.cosine_decay_schedule(1e-2, 20))


def loss_fn(params, stats, x, y):
    logits, updates = net.apply({"params": params, "batch_stats": stats}, x, True, mutable=["batch_stats"])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    return loss, updates["batch_stats"]


@jax.jit
def train_step(state, x, y):
    (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], state["stats"], x, y)
    updates, opt = optimizer.update(grads, state["opt"], state["params"])
    return {"params": optax.apply_updates(state["params"], updates), "stats": stats, "opt": opt}, loss


@jax.jit
def eval_step(state, x, y):
    logits = net.apply({"params": state["params"], "batch_stats": state["stats"]}, x, False)
    return jnp.sum(jnp.argmax(logits, -1) == y)


@jax.jit
def start(key, x):
    variables = net.init(key, x, False)
    return {"params": variables["params"], "stats": variables["batch_stats"],
            "opt": optimizer.init(variables["params"])}


rng = np.random.default_rng(0)
x, y = rng.normal(size=(24, 6, 6, 1)).astype(np.float32), rng.integers(0, 3, 24).astype(np.int32)
state = start(jax.random.key(0), x[:8])
for epoch in range(3):
    for at in range(0, 24, 8):
        state, loss = train_step(state, x[at:at + 8], y[at:at + 8])
    right = sum(int(eval_step(state, x[at:at + 8], y[at:at + 8])) for at in range(0, 24, 8))
    print(epoch, float(loss), right)
    if epoch == 1:
        state = serialization.from_bytes(state, serialization.to_bytes(state))
