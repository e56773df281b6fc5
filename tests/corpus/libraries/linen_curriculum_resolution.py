# cause: shape
# subject: batch['image']
# old: f32[2,8,8,1]
# new: f32[2,12,12,1]
# reason: the images are larger from the second stage on; the network pools over all of them

import flax.linen as nn
import jax
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(4, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        return nn.Dense(3)(x.mean(axis=(1, 2)))


model = Net()
state = train_state.TrainState.create(
    apply_fn=model.apply, tx=optax.adam(1e-3),
    params=model.init(jax.random.key(0), np.ones((1, 8, 8, 1), np.float32))["params"])


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["image"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


for resolution in (8, 12):
    for _ in range(2):
        batch = {"image": np.ones((2, resolution, resolution, 1), np.float32),
                 "label": np.zeros(2, np.int32)}
        state, loss = train_step(state, batch)  # <- cause
