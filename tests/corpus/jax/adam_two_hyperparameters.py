# cause: constant
# subject: beta
# old: 0.9
# new: 0.8
# and
# cause: constant
# subject: epsilon
# old: 1e-08
# new: 1e-06

import jax
import jax.numpy as jnp
import numpy as np


def make_step(beta, epsilon):
    def moment(m, g):
        return beta * m + 0.25 * g  # <- cause

    def move(p, m):
        return p - 0.01 * m / (jnp.abs(m) + epsilon)  # <- cause 2

    def step(params, m, x):
        grads = jax.grad(lambda p: sum(jnp.sum(jnp.sin(w * x)) for w in p.values()))(params)
        m = jax.tree.map(moment, m, grads)
        return jax.tree.map(move, params, m), m
    return jax.jit(step)


x = np.ones(4, np.float32)
params = {name: np.ones(4, np.float32) for name in ("a", "b", "c")}
make_step(0.9, 1e-8)(params, params, x)
make_step(0.8, 1e-6)(params, params, x)  # <- call, call 2
