"""Pairs as those of advice_programs.py: what is baked into a function's program.

    advice_bodies.py FUNCTION...
"""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

W = 4  # another width for each function, so that none finds the programs of another


def ones(*shape):
    return np.ones(shape, np.float32)


def square(x):
    return (x * x).sum()


def constant_accident_closed():
    def make(rate):
        def step(w):
            return w - rate * jnp.sign(w)  # <- here
        return jax.jit(step)

    for rate in (0.1, 0.05):
        make(rate)(ones(W))


def constant_mended_closed():
    @jax.jit
    def step(w, rate):
        return w - rate * jnp.sign(w)

    for rate in (0.1, 0.05):
        step(ones(W), jnp.asarray(rate, jnp.float32))


def constant_accident_static():
    @functools.partial(jax.jit, static_argnames="rate")
    def step(w, rate):
        return w - rate * jnp.sign(w)  # <- here

    for rate in (0.1, 0.05):
        step(ones(W), rate=rate)


def constant_mended_static():
    @jax.jit
    def step(w, rate):
        return w - rate * jnp.sign(w)

    for rate in (0.1, 0.05):
        step(ones(W), rate=jnp.asarray(rate, jnp.float32))


def loop_accident_fori():
    @functools.partial(jax.jit, static_argnames="rounds")
    def step(x, rounds):
        return lax.fori_loop(0, rounds, lambda i, v: v * 0.5 + 1, x)  # <- here

    for rounds in (3, 5):
        step(ones(W), rounds=rounds)


def loop_mended_fori():
    @jax.jit
    def step(x, rounds):
        return lax.fori_loop(0, rounds, lambda i, v: v * 0.5 + 1, x)

    for rounds in (3, 5):
        step(ones(W), rounds=np.int32(rounds))


def loop_accident_while():
    @functools.partial(jax.jit, static_argnames="rounds")
    def step(x, rounds):
        return lax.while_loop(lambda s: s[0] < rounds,  # <- here
                              lambda s: (s[0] + 1, s[1] * 0.5 + 1), (0, x))[1]

    for rounds in (3, 5):
        step(ones(W), rounds=rounds)


def loop_mended_while():
    @jax.jit
    def step(x, rounds):
        return lax.while_loop(lambda s: s[0] < rounds,
                              lambda s: (s[0] + 1, s[1] * 0.5 + 1), (0, x))[1]

    for rounds in (3, 5):
        step(ones(W), rounds=np.int32(rounds))


def loop_accident_scan():
    @functools.partial(jax.jit, static_argnames="rounds")
    def step(x, rounds):
        return lax.scan(lambda v, _: (v * 0.5 + 1, None), x, None, length=rounds)[0]  # <- here

    for rounds in (3, 5):
        step(ones(W), rounds=rounds)


def loop_mended_scan():
    @jax.jit
    def step(x, mask):
        return lax.scan(lambda v, m: (jnp.where(m, v * 0.5 + 1, v), None), x, mask)[0]

    for rounds in (3, 5):
        step(ones(W), np.arange(8) < rounds)


def structure_accident():
    @functools.partial(jax.jit, static_argnames="clip")
    def step(w, clip):
        if clip:
            w = w / jnp.maximum(1, jnp.linalg.norm(w))  # <- here
        return w * 0.1

    for clip in (False, True):
        step(ones(W), clip=clip)


def structure_mended_where():
    @jax.jit
    def step(w, clip):
        w = jnp.where(clip, w / jnp.maximum(1, jnp.linalg.norm(w)), w)
        return w * 0.1

    for clip in (False, True):
        step(ones(W), clip=clip)


def structure_mended_cond():
    @jax.jit
    def step(w, clip):
        w = lax.cond(clip, lambda w: w / jnp.maximum(1, jnp.linalg.norm(w)), lambda w: w, w)
        return w * 0.1

    for clip in (False, True):
        step(ones(W), clip=clip)


def structure_mended_fixed():
    @functools.partial(jax.jit, static_argnames="clip")
    def step(w, clip):
        if clip:
            w = w / jnp.maximum(1, jnp.linalg.norm(w))
        return w * 0.1

    for _ in range(2):
        step(ones(W), clip=True)


def structure_accident_loop():
    @functools.partial(jax.jit, static_argnames="rounds")
    def step(x, rounds):
        for _ in range(rounds):
            x = jnp.tanh(x) @ x  # <- here
        return x

    for rounds in (2, 4):
        step(ones(W, W), rounds=rounds)


def structure_mended_loop():
    @jax.jit
    def step(x, rounds):
        return lax.fori_loop(0, rounds, lambda i, x: jnp.tanh(x) @ x, x)

    for rounds in (2, 4):
        step(ones(W, W), rounds=np.int32(rounds))


def gradient_accident():
    @jax.jit
    def step(params, x, grads):
        new = jax.grad(lambda params: square(x @ params["w"]))(params)
        return new if grads is None else jax.tree.map(jnp.add, grads, new)  # <- here

    grads = None
    for _ in range(3):
        grads = step({"w": ones(8, W)}, ones(2, 8), grads)


def gradient_mended():
    @jax.jit
    def step(params, x, grads):
        new = jax.grad(lambda params: square(x @ params["w"]))(params)
        return new if grads is None else jax.tree.map(jnp.add, grads, new)

    grads = jax.tree.map(jnp.zeros_like, {"w": ones(8, W)})
    for _ in range(3):
        grads = step({"w": ones(8, W)}, ones(2, 8), grads)


def size_accident_nonzero():
    @functools.partial(jax.jit, static_argnames="count")
    def step(x, count):
        (places,) = jnp.nonzero(x > 0, size=count)  # <- here
        return places * 2

    for count in (3, 5):
        step(ones(8 * W), count=count)


def size_mended_nonzero():
    @jax.jit
    def step(x):
        (places,) = jnp.nonzero(x > 0, size=8 * W)
        return places * 2

    for _ in (3, 5):
        step(ones(8 * W))


def size_accident_k():
    @functools.partial(jax.jit, static_argnames="k")
    def step(x, k):
        return lax.top_k(x, k)[0] * 2  # <- here

    for k in (3, 5):
        step(ones(8 * W), k=k)


def size_mended_k():
    @jax.jit
    def step(x):
        return lax.top_k(x, 5)[0] * 2

    for k in (3, 5):
        step(ones(8 * W))[:k]


def size_accident_resolution():
    @functools.partial(jax.jit, static_argnames="size")
    def step(x, size):
        return jax.image.resize(x, (size, size), "bilinear") * 2  # <- here

    for size in (16, 24):
        step(ones(8 * W, 8 * W), size=size)


def size_mended_resolution():
    @functools.partial(jax.jit, static_argnames="size")
    def step(x, size):
        return jax.image.resize(x, (size, size), "bilinear") * 2

    for _ in range(2):
        step(ones(8 * W, 8 * W), size=16)


def shifted_accident():
    @functools.partial(jax.jit, static_argnames="shift")
    def step(x, shift):
        return jnp.roll(x, shift) * 2  # <- here

    for shift in (3, 5):
        step(ones(8 * W), shift=shift)


def shifted_mended():
    @jax.jit
    def step(x, shift):
        return jnp.roll(x, shift) * 2

    for shift in (3, 5):
        step(ones(8 * W), jnp.asarray(shift))


def size_accident_slice():
    @functools.partial(jax.jit, static_argnames="count")
    def step(x, count):
        return (x[:count] * 2).sum()  # <- here

    for count in (3, 5):
        step(ones(8, W), count=count)


def size_mended_slice():
    @jax.jit
    def step(x, mask):
        return (x[:5] * mask[:, None] * 2).sum()

    for count in (3, 5):
        step(ones(8, W), np.arange(5) < count)


def host_array_accident():
    for rows in (3, 5):
        replay = np.random.default_rng(0).normal(size=(rows, W)).astype(np.float32)

        @jax.jit
        def step(w):
            return square(w * replay)  # <- here

        step(ones(W))


def host_array_mended():
    @jax.jit
    def step(w, replay, mask):
        return square(w * replay * mask[:, None])

    for rows in (3, 5):
        replay = np.zeros((8, W), np.float32)
        replay[:rows] = np.random.default_rng(0).normal(size=(rows, W))
        step(ones(W), replay, np.arange(8) < rows)


def nested_jit_accident():
    def helper(x):
        return jnp.tanh(x) * 2 + 1

    def make(function):
        def step(x):
            return function(x).sum()  # <- here
        return jax.jit(step)

    for function in (helper, jax.jit(helper)):
        make(function)(ones(W))


def nested_jit_mended_every():
    @jax.jit
    def helper(x):
        return jnp.tanh(x) * 2 + 1

    @jax.jit
    def step(x):
        return helper(x).sum()

    for _ in range(2):
        step(ones(W))


def nested_jit_mended_none():
    def helper(x):
        return jnp.tanh(x) * 2 + 1

    @jax.jit
    def step(x):
        return helper(x).sum()

    for _ in range(2):
        step(ones(W))


def remat_accident():
    @functools.partial(jax.jit, static_argnames="remat")
    def step(w, x, remat):
        def block(w):
            return jnp.sin(jnp.sin(x @ w)).sum()
        return jax.grad(jax.checkpoint(block) if remat else block)(w)  # <- here

    for remat in (False, True):
        step(ones(W, W), ones(2, W), remat=remat)


def remat_mended():
    @functools.partial(jax.jit, static_argnames="remat")
    def step(w, x, remat):
        def block(w):
            return jnp.sin(jnp.sin(x @ w)).sum()
        return jax.grad(jax.checkpoint(block) if remat else block)(w)

    for _ in range(2):
        step(ones(W, W), ones(2, W), remat=True)


for name in sys.argv[1:]:
    globals()[name]()
    W += 1
