# cause: retrace
# advice: once
# reason: each fold makes the same network anew; its apply is a bound method, equal only to that of the same object

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Regressor(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.silu(nn.Dense(self.width)(x)))[:, 0]


tx = optax.sgd(0.05)
initialise = jax.jit(lambda key, x: Regressor().init(key, x))


@jax.jit
def train_step(state, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((state.apply_fn(p, x) - y) ** 2))(state.params)
    return state.apply_gradients(grads=grads), loss


x, y = np.ones((9, 4), np.float32), np.ones(9, np.float32)
folds = np.array_split(np.arange(9), 3)
for fold, held_out in enumerate(folds):
    rows = np.concatenate([rows for other, rows in enumerate(folds) if other != fold])
    state = TrainState.create(apply_fn=Regressor().apply, params=initialise(jax.random.key(fold), x[:1]), tx=tx)
    for epoch in range(2):
        state, loss = train_step(state, x[rows], y[rows])  # <- cause
    print(fold, float(loss))
