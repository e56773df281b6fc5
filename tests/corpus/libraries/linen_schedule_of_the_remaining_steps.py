# cause: constant
# run: 0
# run: 40
# reason: the resumed run makes its schedule of the steps that remain, not of all; scanned layers, a checkpoint between

import pathlib
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import serialization
from flax.training.train_state import TrainState

TOTAL = 100
CHECKPOINT = pathlib.Path("state.msgpack")


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return x + nn.Dense(6)(nn.gelu(nn.LayerNorm()(x))), None


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(6)(x)
        layers = nn.scan(Layer, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
        x, _ = layers()(x, None)
        return nn.Dense(1)(x)


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss  # <- cause


start = int(sys.argv[1])
model = Net()
rng = np.random.default_rng(start)
params = jax.jit(model.init)(jax.random.key(0), np.ones((1, 4), np.float32))
schedule = optax.cosine_decay_schedule(1e-2, TOTAL - start)
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(schedule))
state = state.replace(step=jnp.asarray(0, jnp.int32))
if CHECKPOINT.exists():
    state = serialization.from_bytes(state, CHECKPOINT.read_bytes())
for _ in range(3):
    x = rng.normal(size=(6, 4)).astype(np.float32)
    state, loss = train_step(state, x, x.mean(-1, keepdims=True))  # <- call
CHECKPOINT.write_bytes(serialization.to_bytes(state))
print(int(state.step), float(loss))
