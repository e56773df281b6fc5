# cause: size
# old: 4
# new: 6
# reason: how much of the history the model looks at is a Python number, static for filter_jit

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def forecast(model, history, window):
    recent = history[-window:]  # <- cause
    return jax.vmap(model)(recent).mean(0)


model = eqx.nn.MLP(2, 2, 8, 1, key=jax.random.key(0))
history = np.ones((20, 2), np.float32)
for window in (4, 6):
    forecast(model, jnp.asarray(history), window)  # <- call
