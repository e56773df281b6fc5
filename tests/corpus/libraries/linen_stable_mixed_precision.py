# cause: stable
# reason: compute in bfloat16, parameters in float32, a loss that is scaled

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import dynamic_scale, train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(8, dtype=jnp.bfloat16)(x))
        return nn.Dense(2, dtype=jnp.bfloat16)(x).astype(jnp.float32)


class State(train_state.TrainState):
    scale: dynamic_scale.DynamicScale


@jax.jit
def train_step(state, x):
    def loss_fn(params):
        return jnp.mean(state.apply_fn({"params": params}, x) ** 2)

    scale, finite, loss, grads = state.scale.value_and_grad(loss_fn)(state.params)
    new = state.apply_gradients(grads=grads)
    keep = jax.tree.map(lambda a, b: jnp.where(finite, a, b), new.params, state.params)
    return new.replace(params=keep, scale=scale), loss


model = Net()
x = np.ones((3, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
state = State.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1),
                     scale=dynamic_scale.DynamicScale())
state = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype), state)
for _ in range(3):
    state, loss = train_step(state, x)
print(float(loss))
