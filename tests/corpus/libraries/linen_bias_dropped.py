# cause: arguments
# subject: params['params']['Dense_0']['bias']
# old: f32[8]
# new: absent
# reason: an ablation trains the same network without biases

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    use_bias: bool = True

    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(8, use_bias=self.use_bias)(x))
        return nn.Dense(2)(x)


def train(use_bias):
    model = Net(use_bias)
    params = model.init(jax.random.key(0), np.ones((1, 5), np.float32))

    @jax.jit
    def train_step(params, x, y):
        grads = jax.grad(lambda p: jnp.mean((model.apply(p, x) - y) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    x, y = np.ones((4, 5), np.float32), np.zeros((4, 2), np.float32)
    for _ in range(2):
        params = train_step(params, x, y)  # <- cause


for use_bias in (True, False):
    train(use_bias)
