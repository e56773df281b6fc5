import functools

import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean(w * x)


def epoch(w, batches):
    step = jax.jit(lambda w, x: w - jax.grad(loss)(w, x))  # expect: jit-in-loop
    for x in batches:
        w = step(w, x)
    return w


def evaluate(w, x):
    return jax.jit(functools.partial(loss, w))(x)  # expect: jit-in-loop


def train(w, data):
    for number in range(4):
        w = epoch(w, data)
        evaluate(w, data[0])

        @jax.jit  # expect: jit-in-loop
        def last(w):
            return w * number

        w = last(w)
        jax.jit(jax.grad(loss))(w, data[0])  # expect: jit-in-loop
        # JAX knows a function that it compiled before.
        jax.jit(loss)(w, data[0])
    return w


def build(widths):
    table, kept = {}, []
    for width in widths:
        table[width] = jax.jit(lambda x, width=width: x[:width])
        kept.append(jax.jit(lambda x: x * width))
        print(jax.jit(lambda x: x + width).lower(jnp.ones(width)))
    return table, kept, [jax.jit(lambda x: x - width) for width in widths]


def make_step(scale):
    @jax.jit
    def step(w):
        return w * scale

    return step


once = jax.jit(lambda x: x + 1)
for scale in (1, 2):
    make_step(scale)
train(jnp.ones(4), [jnp.ones(4)])
