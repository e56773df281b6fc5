# cause: stable
# reason: the older way over several devices: replicate, shard, pmap

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import jax_utils
from flax.training import common_utils
from flax.training.train_state import TrainState

model = nn.Dense(2)


@functools.partial(jax.pmap, axis_name="batch")
def train_step(state, batch):
    grads = jax.grad(lambda p: jnp.mean(state.apply_fn({"params": p}, batch) ** 2))(state.params)
    return state.apply_gradients(grads=jax.lax.pmean(grads, "batch"))


params = jax.jit(model.init)(jax.random.key(0), np.ones((1, 4), np.float32))["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
state = jax_utils.replicate(state)
for _ in range(3):
    state = train_step(state, common_utils.shard(np.ones((8, 4), np.float32)))
state = jax_utils.unreplicate(state)
