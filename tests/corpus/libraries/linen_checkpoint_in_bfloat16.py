# cause: dtype
# run: PART=train
# run: PART=resume
# reason: the checkpoint of the first run is half as large, and the model is restored as it was stored

import os
import pathlib

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import serialization

CHECKPOINT = pathlib.Path("weights.msgpack")


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (32, 32):
            x = nn.silu(nn.Dense(width)(x))
        return nn.Dense(1)(x).squeeze(-1)


model = Regressor()
optimizer = optax.sgd(0.05)


@jax.jit
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        return optax.l2_loss(model.apply(params, x).astype(jnp.float32), y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def save(params):
    half = jax.tree.map(lambda leaf: np.asarray(leaf).astype(jnp.bfloat16), params)
    CHECKPOINT.write_bytes(serialization.to_bytes(half))


def load(params):
    return serialization.from_bytes(params, CHECKPOINT.read_bytes())


params = jax.jit(model.init)(jax.random.key(0), jnp.zeros((1, 6)))
if os.environ["PART"] == "resume":
    params = load(params)
opt_state = optimizer.init(params)
rng = np.random.default_rng(1)
for step in range(4):
    x = rng.normal(size=(16, 6)).astype(np.float32)
    params, opt_state, loss = train_step(params, opt_state, x, x.sum(1))  # <- cause
print(float(loss))
if os.environ["PART"] == "train":
    save(params)
