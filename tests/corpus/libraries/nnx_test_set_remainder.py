# cause: shape
# old: f32[16,12]
# new: f32[8,12]
# reason: 40 rows of the test set in batches of 16; labels follow the images

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(12, 24, rngs=rngs)
        self.norm = nnx.LayerNorm(24, rngs=rngs)
        self.head = nnx.Linear(24, 3, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.gelu(self.norm(self.hidden(x))))


def loss_fn(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def count_right(model, x, y):
    return jnp.sum(jnp.argmax(model(x), -1) == y)


rng = np.random.default_rng(0)
train_x = rng.normal(size=(48, 12)).astype(np.float32)
test_x = rng.normal(size=(40, 12)).astype(np.float32)
train_y, test_y = (rng.integers(0, 3, len(x)).astype(np.int32) for x in (train_x, test_x))
model = Classifier(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
for epoch in range(2):
    for at in range(0, 48, 16):
        loss = train_step(model, optimizer, train_x[at:at + 16], train_y[at:at + 16])
    right = 0
    for at in range(0, 40, 16):
        right += int(count_right(model, test_x[at:at + 16], test_y[at:at + 16]))  # <- cause
    print(epoch, float(loss), right / 40)
