# cause: retrace
# advice: once
# program: jit_train_step
# reason: each member of the ensemble has a new lambda as its activation, which is a static attribute

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
import jax


class Member(nnx.Module):
    def __init__(self, activation, rngs):
        self.activation = activation
        self.hidden = nnx.Linear(3, 8, rngs=rngs)
        self.out = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(self.activation(self.hidden(x)))


def member_of(seed, slope=0.1):
    return Member(lambda x: jnp.where(x > 0, x, slope * x), nnx.Rngs(seed))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


def bootstrap(rng, x, y):
    chosen = rng.integers(0, len(x), 8)
    return x[chosen], y[chosen]


def fit_ensemble(x, y, members, steps):
    rng = np.random.default_rng(0)
    tx = optax.adam(1e-2)
    ensemble = []
    for seed in range(members):
        model = member_of(seed)
        optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
        for _ in range(steps):
            loss = train_step(model, optimizer, *bootstrap(rng, x, y))  # <- cause
        print(seed, float(loss))
        ensemble.append(model)
    return ensemble


x = np.random.default_rng(5).normal(size=(20, 3)).astype(np.float32)
fit_ensemble(x, x[:, :1] * 2, members=3, steps=3)
