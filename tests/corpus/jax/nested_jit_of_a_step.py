# cause: nested_jit
# subject: step
# program: jit_step
# reason: the step is jitted twice; its first operation is in a function that it calls

import jax
import jax.numpy as jnp
import numpy as np


def activate(x):
    return jnp.tanh(x)


def model(params, x):
    return activate(x @ params['a']) @ params['b']


def step(params, x):
    gradient = jax.grad(lambda p: (model(p, x) ** 2).mean())(params)
    return jax.tree.map(lambda a, b: a - 0.1 * b, params, gradient)


def run(step, params, x):
    return step(params, x)  # <- cause


params = {'a': np.ones((4, 8), np.float32), 'b': np.ones((8, 1), np.float32)}
x = np.ones((8, 4), np.float32)
run(jax.jit(step), params, x)
run(jax.jit(jax.jit(step)), params, x)
