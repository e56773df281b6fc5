# cause: shape
# old: f32[8,3]
# new: f32[5,3]
# program: jit_apply

import flax.linen as nn
import jax
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(nn.relu(nn.Dense(16)(x)))


rng = np.random.default_rng(0)
net = Net()
variables = jax.jit(net.init)(jax.random.key(0), np.zeros((1, 3), np.float32))
predict = jax.jit(net.apply)
for _ in range(3):
    predict(variables, rng.normal(size=(8, 3)).astype(np.float32))
print(predict(variables, rng.normal(size=(5, 3)).astype(np.float32)).shape)  # <- cause
