# cause: arguments
# subject: state.dynamic_scale...
# old: absent
# reason: the state had no loss scale; from half precision on it has one

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import dynamic_scale as dynamic_scale_lib
from flax.training import train_state


class State(train_state.TrainState):
    dynamic_scale: dynamic_scale_lib.DynamicScale | None


model = nn.Dense(3)
x = np.ones((4, 5), np.float32)
state = State.create(apply_fn=model.apply, tx=optax.sgd(1e-2), dynamic_scale=None,
                     params=jax.jit(model.init)(jax.random.key(0), x)["params"])


@jax.jit
def train_step(state, x):
    def loss_fn(params):
        return jnp.mean(state.apply_fn({"params": params}, x) ** 2)

    if state.dynamic_scale is None:
        return state.apply_gradients(grads=jax.grad(loss_fn)(state.params))
    scale, finite, _, grads = state.dynamic_scale.value_and_grad(loss_fn)(state.params)
    applied = state.apply_gradients(grads=grads)
    kept = jax.tree.map(lambda a, b: jnp.where(finite, a, b), applied.params, state.params)
    return applied.replace(params=kept, dynamic_scale=scale)


state = train_step(state, x)
state = train_step(state, x)
state = state.replace(dynamic_scale=dynamic_scale_lib.DynamicScale())
state = train_step(state, x)  # <- cause
