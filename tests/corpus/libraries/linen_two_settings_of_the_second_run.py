# cause: shape
# subject: batch['x']
# old: f32[8,5]
# new: f32[4,5]
# and
# cause: constant
# subject: multiply
# old: -0.1
# new: -0.05
# run: --batch 8 --rate 0.1
# run: --batch 4 --rate 0.05
# reason: the batch was halved and the rate with it, on the command line; the means over the batch follow

import argparse

import flax.linen as nn
import jax
import numpy as np
import optax
from flax.training import train_state

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int)
parser.add_argument("--rate", type=float)
options = parser.parse_args()
model = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(3)])
state = train_state.TrainState.create(
    apply_fn=model.apply, tx=optax.sgd(options.rate),
    params=jax.jit(model.init)(jax.random.key(0), np.ones((1, 5), np.float32))["params"])


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["x"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss  # <- cause 2


for _ in range(2):
    batch = {"x": np.ones((options.batch, 5), np.float32), "y": np.zeros(options.batch, np.int32)}
    state, loss = train_step(state, batch)  # <- cause, call 2
