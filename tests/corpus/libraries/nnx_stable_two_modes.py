# cause: stable
# reason: each mode has a jitted function of its own; the running statistics go from one to the other

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.out = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x):
        return self.out(self.dropout(nnx.relu(self.norm(self.hidden(x)))))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def eval_step(model, x, y):
    return jnp.mean(model(x).argmax(-1) == y)


rng = np.random.default_rng(0)
model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
for epoch in range(3):
    model.train()
    for _ in range(2):
        train_step(model, optimizer, rng.normal(size=(4, 4)).astype(np.float32),
                   rng.integers(0, 3, 4))
    model.eval()
    accuracy = eval_step(model, rng.normal(size=(6, 4)).astype(np.float32),
                         rng.integers(0, 3, 6))
print(float(accuracy))
