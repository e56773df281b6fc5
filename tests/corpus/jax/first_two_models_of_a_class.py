# cause: first
# program: jit_update
# reason: two trainers have a jitted method each, and other models with other parameters

import jax
import jax.numpy as jnp
import numpy as np


def mlp(params, x):
    return jnp.tanh(x @ params['w1']) @ params['w2']


def linear(params, x):
    return x @ params['kernel'] + params['bias']


class Trainer:
    def __init__(self, apply, params):
        self.apply, self.params = apply, params
        self.jitted = jax.jit(self.update)

    def update(self, params, x):
        gradient = jax.grad(lambda p: (self.apply(p, x) ** 2).mean())(params)
        return jax.tree.map(lambda a, g: a - 0.1 * g, params, gradient)

    def step(self, x):
        self.params = self.jitted(self.params, x)


deep = Trainer(mlp, {'w1': np.ones((4, 8), np.float32), 'w2': np.ones((8, 1), np.float32)})
flat = Trainer(linear, {'kernel': np.ones((4, 1), np.float32), 'bias': np.zeros(1, np.float32)})
for _ in range(3):
    deep.step(np.ones((8, 4), np.float32))
    flat.step(np.ones((8, 4), np.float32))
