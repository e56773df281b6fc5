# cause: structure
# reason: whether the pictures of a batch are mixed is thrown on the host, and a branch of Python in the step

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

ALPHA = np.float32(0.3)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(12)(x))
        return nn.Dense(3)(x)


def mix(images, targets):
    order = jnp.flip(images, 0), jnp.flip(targets, 0)  # <- cause
    return (1 - ALPHA) * images + ALPHA * order[0], (1 - ALPHA) * targets + ALPHA * order[1]


@functools.partial(jax.jit, static_argnums=2)
def train_step(state, batch, mixed):
    images, targets = batch["image"], batch["target"]
    if mixed:
        images, targets = mix(images, targets)

    def loss_fn(params):
        return optax.softmax_cross_entropy(state.apply_fn(params, images), targets).mean()

    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params))


model = Net()
batch = {"image": np.ones((4, 5), np.float32), "target": np.eye(3, dtype=np.float32)[[0, 1, 2, 0]]}
state = train_state.TrainState.create(
    apply_fn=model.apply, tx=optax.adam(1e-3), params=jax.jit(model.init)(jax.random.key(0), batch["image"]))
for coin in (0.7, 0.6, 0.2):
    state = train_step(state, batch, coin < 0.5)  # <- call
