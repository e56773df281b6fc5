import functools
from typing import Callable

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import lax
from jax import numpy as np_of_jax


@jax.jit
def clip(x, limit):
    if x.sum() > limit:  # expect: branch-on-value
        x = x / limit
    while jnp.any(x > 1):  # expect: branch-on-value
        x = x * 0.5
    assert jnp.isfinite(x).all()  # expect: branch-on-value
    y = x if x[0] > 0 else -x  # expect: branch-on-value
    return y if not jnp.all(y == 0) else x  # expect: branch-on-value


@functools.partial(jax.jit, static_argnames=("train", "kind"), static_argnums=3)
def step(x, train, kind, count, mask=None, scale: float = 1.0):
    if train:
        x = x * 2
    if kind == "relu":
        x = jnp.maximum(x, 0)
    if count > 3 and x.ndim == 2:
        x = x.T
    if mask is not None:
        x = jnp.where(mask, x, 0)
    if x.shape[0] > 8 or len(x) == 2 or x.dtype == jnp.float32:
        x = x[:8]
    if isinstance(mask, tuple):
        mask = mask[0]
    if scale != 1.0:
        x = x * scale
    both = x.any() and train  # expect: branch-on-value
    largest = max(x.max(), 1.0)  # expect: branch-on-value
    return jnp.where(x > 0, x, both) * largest


def loss(params, x):
    return 0 if (params["w"] @ x) > 0 else 1  # expect: branch-on-value


def total(x):
    if x.sum() > 0:  # expect: branch-on-value
        return x
    return -x


gradient = jax.jit(jax.grad(loss))


@jax.jit
def outer(x):
    def inner(y):
        if 0 < y.mean() < 1:  # expect: branch-on-value
            return y
        return x

    return total(inner(jnp.tanh(x)))


def body(carry, x):
    if carry > 0:  # expect: branch-on-value
        carry = carry + x
    return carry, x


def run(xs):
    # Outside of what is traced, values are there.
    if jnp.sum(xs) > 0:
        xs = xs * 2
    return lax.scan(body, 0.0, xs)


class Block(nn.Module):
    width: int
    act: Callable = nn.relu

    @nn.compact
    def __call__(self, x, train: bool = False):
        if train and self.width > 4:
            x = nn.Dropout(0.1)(x)
        if np_of_jax.max(x) > 10:  # expect: branch-on-value
            x = self.act(x)
        return x


@jax.jit
def checked(x):
    if not isinstance(x, jax.core.Tracer):
        if x.sum() > 0:
            raise ValueError("positive")
    try:
        limit = float(x[0])
    except jax.errors.ConcretizationTypeError:
        limit = 1.0
    with jax.ensure_compile_time_eval():
        if jnp.arange(3).sum() > 2:
            limit = 2.0
    return x * limit


def fast(x, flag):
    if flag:
        return x * 2
    return x


fast_of_both = jax.jit(fast, static_argnums=1)
options = {"static_argnums": 1}
fast_of_unknown = jax.jit(lambda x, n: x if n > 1 else -x, **options)
