# cause: structure
# advice: two programs | function for each | keep the choice fixed
# reason: the accuracy is computed in the last epoch only, because a static flag asks for it

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(6, 8, rngs=rngs)
        self.out = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.hidden(x)))


@functools.partial(nnx.jit, static_argnames="report")
def train_step(model, optimizer, x, labels, report=False):
    def loss_fn(model):
        logits = model(x)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return losses.mean(), logits

    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    optimizer.update(model, grads)
    if report:
        accuracy = jnp.mean(logits.argmax(-1) == labels)  # <- cause
        return {"loss": loss, "accuracy": accuracy}
    return {"loss": loss}


def main(epochs=3):
    model = Classifier(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    x, labels = np.ones((5, 6), np.float32), np.zeros(5, np.int32)
    for epoch in range(epochs):
        last = epoch == epochs - 1
        metrics = train_step(model, optimizer, x, labels, report=last)  # <- call
        print({name: float(value) for name, value in metrics.items()})


main()
