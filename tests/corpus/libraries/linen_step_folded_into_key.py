# cause: constant
# old: 2
# new: 3
# pattern: counter
# advice: array
# reason: the trainer hands its Python step number over as a static argument

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dropout(0.25, deterministic=False)(nn.relu(nn.Dense(8)(x)))
        return nn.Dense(2)(x)


class Trainer:
    def __init__(self, model, x):
        self.model = model
        self.step = 0
        self.key = jax.random.key(7)
        self.params = jax.jit(model.init)({"params": jax.random.key(0),
                                           "dropout": jax.random.key(1)}, x)
        self.jitted = jax.jit(self.update, static_argnums=3)

    def update(self, params, x, key, step):
        key = jax.random.fold_in(key, step)  # <- cause

        def loss_fn(params):
            return jnp.mean(self.model.apply(params, x, rngs={"dropout": key}) ** 2)

        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss_fn)(params))

    def fit(self, batches):
        for x in batches:
            self.params = self.jitted(self.params, x, self.key, self.step)  # <- call
            self.step += 1


x = np.ones((4, 5), np.float32)
Trainer(Net(), x).fit([x] * 4)
