# cause: constant
# subject: rate
# old: -0.5
# new: -0.25
# advice: array
# reason: each epoch makes a partial of the step with its rate, and a compiled function of that

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def step(model, x, rate):
    grads = eqx.filter_grad(lambda model: jnp.mean(jnp.abs(jax.vmap(model)(x))))(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -rate * g, grads))  # <- cause


model = eqx.nn.Linear(3, 2, use_bias=False, key=jax.random.key(0))
x = np.ones((4, 3), np.float32)
for rate in (-0.5, -0.25):
    compiled = eqx.filter_jit(functools.partial(step, rate=rate))
    for _ in range(2):
        model = compiled(model, x)  # <- call
