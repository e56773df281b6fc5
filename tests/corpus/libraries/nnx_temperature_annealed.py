# cause: constant
# subject: model.temperature
# pattern: counter
# advice: nnx.jit | asarray

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Router(nnx.Module):
    """A soft choice among experts that gets harder in training."""

    def __init__(self, experts, rngs):
        self.gate = nnx.Linear(6, experts, rngs=rngs)
        self.experts = nnx.Linear(6, experts * 4, rngs=rngs)
        self.temperature = 2.0

    def __call__(self, x):
        weights = nnx.softmax(self.gate(x) / self.temperature)  # <- cause
        outputs = self.experts(x).reshape(len(x), -1, 4)
        return (weights[..., None] * outputs).sum(1)


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return ((model(x) - y) ** 2).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = nnx.jit(lambda: Router(3, nnx.Rngs(1)))()
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
rng = np.random.default_rng(0)
for epoch in range(5):
    model.temperature = 2.0 * 0.7 ** epoch
    for _ in range(2):
        x = rng.normal(size=(8, 6)).astype(np.float32)
        loss = train_step(model, optimizer, x, x[:, :4])
    print(f"epoch {epoch}: temperature {model.temperature:.2f}, loss {float(loss):.3f}")
