# cause: retrace
# advice: optimizers
# reason: the state's tx is static, and a new optax.adam is equal to no other; the state is large

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(40):
            x = nn.relu(nn.Dense(4)(x))
        return x


@jax.jit
def evaluate(state, x):
    return jnp.mean(state.apply_fn({"params": state.params}, x) ** 2)


model = Net()
x = np.ones((4, 6), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
for epoch in range(3):
    tx = optax.adam(0.1)
    state = TrainState.create(apply_fn=model.apply, params=params, tx=tx)
    evaluate(state, x)  # <- cause
