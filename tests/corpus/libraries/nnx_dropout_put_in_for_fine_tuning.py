# cause: arguments
# subject: model.dropout...
# old: absent
# reason: the pre-trained network had no dropout; the layer that is put in brings its key and count

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.body = nnx.Linear(5, 8, rngs=rngs)
        self.head = nnx.Linear(8, 2, rngs=rngs)
        self.dropout = nnx.data(None)

    def __call__(self, x):
        x = nnx.relu(self.body(x))
        if self.dropout is not None:
            x = self.dropout(x)
        return self.head(x)


@nnx.jit
def loss_and_grads(model, x, labels):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), labels).mean()

    return nnx.value_and_grad(loss_fn)(model)


make = nnx.jit(lambda rngs: Net(rngs))
model = make(nnx.Rngs(0))
x, labels = np.ones((4, 5), np.float32), np.array([0, 1, 0, 1], np.int32)
for _ in range(2):
    loss, grads = loss_and_grads(model, x, labels)
model.dropout = nnx.Dropout(0.2, rngs=nnx.Rngs(dropout=1))
loss, grads = loss_and_grads(model, x, labels)  # <- cause
