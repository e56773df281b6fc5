# cause: first
# program: jit_step
# reason: one factory makes a step for each of two models, which have other parameters

import jax
import jax.numpy as jnp
import numpy as np


def mlp(params, x):
    return jnp.tanh(x @ params['w1']) @ params['w2']


def linear(params, x):
    return x @ params['kernel'] + params['bias']


def trainer(apply):
    @jax.jit
    def step(params, x):
        gradient = jax.grad(lambda p: (apply(p, x) ** 2).mean())(params)
        return jax.tree.map(lambda a, g: a - 0.1 * g, params, gradient)
    return step


def fit(apply, params):
    step = trainer(apply)
    for _ in range(3):
        params = step(params, np.ones((8, 4), np.float32))
    return params


fit(mlp, {'w1': np.ones((4, 8), np.float32), 'w2': np.ones((8, 1), np.float32)})
fit(linear, {'kernel': np.ones((4, 1), np.float32), 'bias': np.zeros(1, np.float32)})
