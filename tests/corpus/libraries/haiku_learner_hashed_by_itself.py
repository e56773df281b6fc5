# cause: constant
# subject: self.rate
# old: 0.1
# new: 0.01
# reason: the learner is a static argument of its own method; each has its rate

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


class Learner:
    def __init__(self, rate, width=6):
        self.rate = rate
        self.net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([width, 1])(x)))

    def init(self, key, x):
        return jax.jit(self.net.init)(key, x)

    def loss(self, params, x, y):
        return jnp.mean((self.net.apply(params, x)[:, 0] - y) ** 2)

    @functools.partial(jax.jit, static_argnums=0)
    def update(self, params, x, y):
        grads = jax.grad(self.loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - self.rate * g, params, grads)  # <- cause

    def fit(self, params, x, y, epochs=3):
        for _ in range(epochs):
            params = self.update(params, x, y)  # <- call
        return params


x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(8, 1)
y = x[:, 0] ** 2
coarse, fine = Learner(0.1), Learner(0.01)
params = coarse.init(jax.random.key(0), x)
params = coarse.fit(params, x, y)
params = fine.fit(params, x, y)
print(float(fine.loss(params, x, y)))
