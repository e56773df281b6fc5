# cause: retrace
# pattern: alternating
# program: jit_loss
# reason: after each epoch both losses are reported, each jitted for the report; the last requests are answered from memory

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

CLASSES = 4


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(CLASSES)(nn.relu(nn.Dense(9)(x)))


model = Net()
optimizer = optax.adam(3e-3)


@jax.jit
def train_step(params, opt_state, x, labels):
    def objective(params):
        targets = optax.smooth_labels(jax.nn.one_hot(labels, CLASSES), 0.1)
        return optax.softmax_cross_entropy(model.apply(params, x), targets).mean()

    grads = jax.grad(objective)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def make_loss(smoothed):
    @jax.jit
    def loss(params, x, labels):
        targets = jax.nn.one_hot(labels, CLASSES)
        if smoothed:
            targets = 0.9 * targets + 0.1 / CLASSES
        return optax.softmax_cross_entropy(model.apply(params, x), targets).mean()

    return loss


rng = np.random.default_rng(0)
x = rng.normal(size=(16, 6)).astype(np.float32)
labels = rng.integers(0, CLASSES, 16).astype(np.int32)
params = jax.jit(model.init)(jax.random.key(0), x)
opt_state = jax.jit(optimizer.init)(params)
for epoch in range(3):
    for at in range(0, 16, 8):
        params, opt_state = train_step(params, opt_state, x[at:at + 8], labels[at:at + 8])
    for smoothed in (True, False):
        value = make_loss(smoothed)(params, x, labels)  # <- cause
        print(epoch, "smoothed" if smoothed else "plain", float(value))
