# cause: retrace
# advice: containers
# reason: a FrozenDict and a dict of the same arrays make the same program

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax.core import freeze


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Dense(16)(x)))


model = Net()
x = np.ones((4, 8), np.float32)
variables = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def evaluate(variables, x):
    return jnp.mean(model.apply(variables, x) ** 2)


evaluate(variables, x)
restored = freeze(jax.tree.map(np.asarray, variables))
evaluate(restored, x)  # <- cause
