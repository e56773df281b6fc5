# cause: retrace
# advice: weak | type | number | asarray
# reason: the state begins with step=0, a Python number and so weak; restored it is an array; the program is the same

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import serialization
from flax.training import train_state

model = nn.Dense(3)
x = np.ones((4, 5), np.float32)
state = train_state.TrainState.create(
    apply_fn=model.apply, tx=optax.sgd(1e-2, momentum=0.9),
    params=jax.jit(model.init)(jax.random.key(0), x)["params"])


@jax.jit
def train_step(state, x):
    grads = jax.grad(lambda p: jnp.mean(state.apply_fn({"params": p}, x) ** 2))(state.params)
    return state.apply_gradients(grads=grads)


state = train_step(train_step(state, x), x)
saved = serialization.to_bytes(state)
state = serialization.from_bytes(state, saved)
state = train_step(state, x)  # <- cause
