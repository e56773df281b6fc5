# cause: dtype
# subject: model.dtype
# old: float32
# new: bfloat16
# advice: one precision setting

import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn


class Net(nn.Module):
    dtype: object = jnp.float32

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(16, dtype=self.dtype)(x))  # <- cause
        return nn.Dense(1, dtype=self.dtype)(h)


def make_eval(model):
    @jax.jit
    def evaluate(params, x):
        return model.apply(params, x).mean()
    return evaluate


x = np.ones((4, 8), np.float32)
params = Net().init(jax.random.key(0), x)
make_eval(Net())(params, x)
make_eval(Net(dtype=jnp.bfloat16))(params, x)  # <- call
