# cause: stable
# reason: the guide's loop: model, optimizer and metrics made eagerly

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, din, dmid, dout, *, rngs):
        self.linear1 = nnx.Linear(din, dmid, rngs=rngs)
        self.bn = nnx.BatchNorm(dmid, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.linear2 = nnx.Linear(dmid, dout, rngs=rngs)

    def __call__(self, x):
        x = nnx.gelu(self.dropout(self.bn(self.linear1(x))))
        return self.linear2(x)


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    metrics.update(loss=loss)
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, x, y):
    metrics.update(loss=jnp.mean((model(x) - y) ** 2))


model = Net(4, 12, 3, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
x, y = np.ones((6, 4), np.float32), np.zeros((6, 3), np.float32)
for epoch in range(2):
    model.train()
    for _ in range(2):
        train_step(model, optimizer, metrics, x, y)
    print(float(metrics.compute()["loss"]))
    metrics.reset()
    model.eval()
    eval_step(model, metrics, x, y)
    metrics.reset()
