# cause: stable
# reason: a step of each mode with a name of its own, both called in each epoch

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.one = nnx.Linear(8, 16, rngs=rngs)
        self.drop = nnx.Dropout(0.2, rngs=rngs)
        self.two = nnx.Linear(16, 2, rngs=rngs)

    def __call__(self, x):
        return self.two(self.drop(nnx.relu(self.one(x))))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def eval_step(model, x, y):
    return jnp.mean(jnp.argmax(model(x), -1) == y)


@nnx.jit
def create():
    model = Net(nnx.Rngs(params=0, dropout=1))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


rng = np.random.default_rng(0)
model, optimizer = create()
for epoch in range(3):
    model.train()
    for _ in range(3):
        x = rng.normal(size=(8, 8)).astype(np.float32)
        loss = train_step(model, optimizer, x, (x[:, 0] > 0).astype(np.int32))
    model.eval()
    x = rng.normal(size=(16, 8)).astype(np.float32)
    print(epoch, float(loss), float(eval_step(model, x, (x[:, 0] > 0).astype(np.int32))))
