import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("options", "fn", "index", "name"))
def step(x, options=None, fn=None, index=0, name=""):
    return x


def update(x, n):
    return x * n


update_jit = jax.jit(update, static_argnums=(1,))
act = functools.partial(jnp.maximum, 0)


def train(x, sizes):
    step(x, options=[1, 2])  # expect: fresh-static
    step(x, {"a": 1})  # expect: fresh-static
    step(x, options=(1, 2), fn=act)
    for i in range(100):
        step(x, fn=lambda y: y)  # expect: fresh-static
        step(x, fn=functools.partial(jnp.maximum, 0))  # expect: fresh-static
        step(x, name=f"step {i}")  # expect: fresh-static
        step(x, index=i)  # expect: changing-static
        update_jit(x, i)  # expect: changing-static
        update_jit(x, min(0.999, (1 + i) / (10 + i)))  # expect: changing-static
        step(x, index=i % 2)
        step(x, index=i == 0)
        update_jit(x, 3)
        update_jit(x + i, 3)
    for size in sizes:
        update_jit(x, size)
    count = 0
    while count < 10:
        update_jit(x, count)  # expect: changing-static
        count += 1
