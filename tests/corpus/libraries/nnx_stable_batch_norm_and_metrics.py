# cause: stable
# reason: training and evaluation are jitted functions of their own, with metrics and batch statistics

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class ConvNet(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.out = nnx.Linear(4, 3, rngs=rngs)

    def __call__(self, images):
        x = nnx.relu(self.norm(self.conv(images))).mean(axis=(1, 2))
        return self.out(self.dropout(x))


def loss_fn(model, images, labels):
    logits = model(images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), logits


@nnx.jit
def train_step(model, optimizer, metrics, images, labels):
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, images, labels)
    metrics.update(loss=loss, logits=logits, labels=labels)
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, images, labels):
    loss, logits = loss_fn(model, images, labels)
    metrics.update(loss=loss, logits=logits, labels=labels)


rng = np.random.default_rng(0)
images = rng.normal(size=(16, 6, 6, 1)).astype(np.float32)
labels = rng.integers(0, 3, 16).astype(np.int32)
model = ConvNet(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adamw(1e-3, 0.9), wrt=nnx.Param)
metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
for epoch in range(3):
    model.train()
    for start in (0, 4):
        train_step(model, optimizer, metrics, images[start:start + 4], labels[start:start + 4])
    fitted = metrics.compute()
    metrics.reset()
    model.eval()
    for start in (8, 12):
        eval_step(model, metrics, images[start:start + 4], labels[start:start + 4])
    print(epoch, float(fitted["loss"]), float(metrics.compute()["accuracy"]))
    metrics.reset()
