# cause: constant
# subject: step
# pattern: counter
# advice: array | schedule | argument
# reason: the schedule is written with the math module, so the step has to be static

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import optax

TOTAL = 8


def cosine(step, base=0.5):
    return 0.5 * base * (1 + math.cos(math.pi * step / TOTAL))


@functools.partial(jax.jit, static_argnames="step")
def update(params, trace, x, step):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"]) ** 2))(params)
    grads, trace = optax.trace(0.9).update(grads, trace)
    rate = cosine(step)
    params = jax.tree.map(lambda p, g: p - rate * g, params, grads)  # <- cause
    return params, trace


x = np.ones((4, 3), np.float32)
params = {"w": np.ones((3, 2), np.float32), "b": np.zeros(2, np.float32)}
trace = optax.trace(0.9).init(params)
for step in range(4):
    params, trace = update(params, trace, x, step=step)  # <- call
