# cause: shape
# subject: images
# old: f32[16,8,8,1]
# new: f32[6,8,8,1]
# reason: 38 validation pictures in batches of 16

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Digits(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, kernel_size=(3, 3), strides=2, rngs=rngs)
        self.head = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, images):
        x = nnx.relu(self.conv(images))
        return self.head(x.reshape(x.shape[0], -1))


@nnx.jit
def train_step(model, optimizer, images, labels):
    def loss_fn(model):
        losses = optax.softmax_cross_entropy_with_integer_labels(model(images), labels)
        return losses.mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def count_hits(model, images, labels):
    return jnp.sum(jnp.argmax(model(images), axis=-1) == labels)


def batches(images, labels, size):
    for start in range(0, len(images), size):
        yield images[start:start + size], labels[start:start + size]


def accuracy(model, images, labels):
    hits = 0
    for some, theirs in batches(images, labels, 16):
        hits += int(count_hits(model, some, theirs))  # <- cause
    return hits / len(images)


rng = np.random.default_rng(1)
images = rng.normal(size=(102, 8, 8, 1)).astype(np.float32)
labels = rng.integers(0, 10, size=102).astype(np.int32)
model = nnx.jit(lambda: Digits(nnx.Rngs(0)))()
optimizer = nnx.jit(lambda m: nnx.Optimizer(m, optax.adam(1e-3), wrt=nnx.Param))(model)
for epoch in range(2):
    for some, theirs in batches(images[:64], labels[:64], 16):
        loss = train_step(model, optimizer, some, theirs)
    print(epoch, float(loss), accuracy(model, images[64:], labels[64:]))
