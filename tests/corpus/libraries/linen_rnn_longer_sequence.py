# cause: shape
# subject: inputs
# old: f32[2,5,3]
# new: f32[2,8,3]

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Forecast(nn.Module):
    @nn.compact
    def __call__(self, inputs):
        hidden = nn.RNN(nn.SimpleCell(6, recurrent_kernel_init=nn.initializers.lecun_normal()))(inputs)
        return nn.Dense(1)(hidden[:, -1])


model = Forecast()
params = jax.jit(model.init)(jax.random.key(0), np.ones((2, 5, 3), np.float32))


@jax.jit
def forecast(params, inputs):
    return model.apply(params, inputs)


def validate(horizon):
    return forecast(params, np.ones((2, horizon, 3), np.float32))  # <- cause


validate(5)
validate(8)
