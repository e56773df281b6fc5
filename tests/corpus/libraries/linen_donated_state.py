# cause: donation
# subject: state.step
# old: kept
# new: donated
# advice: once | partial in the loop | __eq__
# reason: the same step is jitted in two places, one of which donates

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

model = nn.Dense(2)
x = np.ones((3, 4), np.float32)


def train_step(state, x):
    grads = jax.grad(lambda p: jnp.mean(state.apply_fn({"params": p}, x) ** 2))(state.params)
    return state.apply_gradients(grads=grads)


params = jax.jit(model.init)(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
state = state.replace(step=jax.device_put(np.int32(0)))
warm_up = jax.jit(train_step)
state = warm_up(state, x)
train = jax.jit(train_step, donate_argnames="state")
state = train(state, x)  # <- cause
