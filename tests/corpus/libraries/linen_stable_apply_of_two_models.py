# cause: stable

import flax.linen as nn
import jax
import numpy as np


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(nn.relu(nn.Dense(self.width)(x)))


def predictor(width):
    net = Net(width)
    variables = jax.jit(net.init)(jax.random.key(0), np.zeros((1, 3), np.float32))
    return jax.jit(net.apply), variables


x = np.ones((8, 3), np.float32)
teacher, its_variables = predictor(32)
student, variables = predictor(8)
for _ in range(3):
    target = teacher(its_variables, x)
    answer = student(variables, x)
print(float(((target - answer) ** 2).mean()))
