"""Pairs for advice.py: an accident, and the same with its advice followed to the letter. Here: what
is passed to a function.

Functions are named by the advice (a row of src/explain/cause.h in small letters), `accident` or
`mended`, and which one if there are several: an advice with two ways out has a mended one for each.
`# <- here` marks the line that the advice is given at. Without it the accident is not a row.

    advice_programs.py FUNCTION...
"""

import dataclasses
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


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Scaler:
    good: np.ndarray
    scale: np.ndarray


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class StaticScaler:
    good: np.ndarray
    scale: float = dataclasses.field(metadata={"static": True})


def shape_accident():
    step = jax.jit(lambda x: square(x))
    for rows in (8, 8, 5):
        step(ones(rows, W))  # <- here


def shape_mended_pad():
    @jax.jit
    def step(batch, mask):
        return (batch * batch * mask[:, None]).sum()

    for rows in (8, 8, 5):
        batch, mask = ones(rows, W), ones(rows)
        step(np.pad(batch, ((0, 8 - rows), (0, 0))), np.pad(mask, (0, 8 - rows)))


def shape_mended_drop():
    step = jax.jit(lambda x: square(x))
    for rows in (8, 8, 5):
        if rows == 8:
            step(ones(rows, W))


def grows_accident():
    @jax.jit
    def step(cache):
        return jnp.concatenate([cache, cache[:1] * 2])

    cache = ones(1, W)
    for _ in range(5):
        cache = step(cache)  # <- here


def grows_mended_allocate():
    @jax.jit
    def step(cache, at):
        return lax.dynamic_update_slice(cache, cache[:1] * 2, (at, 0)), at + 1

    cache, at = np.zeros((8, W), np.float32), np.int32(1)
    cache[0] = 1
    for _ in range(5):
        cache, at = step(cache, at)


def grows_mended_pad():
    @jax.jit
    def step(cache, length):
        return jnp.where(jnp.arange(8)[:, None] == length, cache[:1] * 2, cache)

    cache = ones(1, W)
    for _ in range(5):
        length = len(cache)
        padded = step(np.pad(cache, ((0, 8 - length), (0, 0))), np.int32(length))
        cache = np.asarray(padded)[: length + 1]


def rank_accident():
    step = jax.jit(lambda x, rate: square(x) * rate.sum())
    for rate in (np.float32(0.5), ones(W)):
        step(ones(8, W), rate)  # <- here


def rank_mended_reshape():
    step = jax.jit(lambda x, rate: square(x) * rate.sum())
    for rate in (np.float32(0.5), ones(1)):
        step(ones(8, W), rate.reshape(1))


def rank_mended_broadcast():
    step = jax.jit(lambda x, rate: square(x) * rate.sum())
    for rate in (np.float32(0.5), ones(W)):
        step(ones(8, W), np.broadcast_to(rate, W))


def length_accident():
    step = jax.jit(lambda x: square(x))
    for length in (5, 7):
        step(ones(2, length, W))  # <- here


def length_mended_one():
    @jax.jit
    def step(x, mask):
        return (x * x * mask[:, None]).sum()

    for length in (5, 7):
        step(np.pad(ones(2, length, W), ((0, 0), (0, 8 - length), (0, 0))), np.arange(8) < length)


def model_size_accident():
    @jax.jit
    def step(params, x):
        return square(jnp.tanh(x @ params["w"]) @ params["v"])

    for width in (5, 9):
        step({"w": ones(W, width), "v": ones(width, 2)}, ones(8, W))  # <- here


def model_size_mended():
    @jax.jit
    def step(params, x):
        return square(jnp.tanh(x @ params["w"]) @ params["v"])

    for _ in range(2):
        step({"w": ones(W, 9), "v": ones(9, 2)}, ones(8, W))


def model_dtype_accident():
    @jax.jit
    def step(params, x):
        return square(x @ params["w"])

    for dtype in (jnp.float32, jnp.bfloat16):
        step({"w": np.ones((W, 3), dtype)}, ones(8, W))  # <- here


def model_dtype_mended_setting():
    @jax.jit
    def step(params, x):
        return square(x @ params["w"])

    for _ in range(2):
        step({"w": np.ones((W, 3), jnp.bfloat16)}, ones(8, W))


def model_dtype_mended_checkpoint():
    @jax.jit
    def step(params, x):
        return square(x @ params["w"])

    for dtype in (jnp.float32, jnp.bfloat16):
        params = {"w": np.ones((W, 3), dtype)}
        step(jax.tree.map(lambda x: x.astype(np.float32), params), ones(8, W))


def both_again_accident():
    def make(train):
        def step(x):
            return (x * 0.9).sum() if train else x.sum()  # <- here
        return jax.jit(step)

    for _ in range(3):
        make(True)(ones(W))
        make(False)(ones(W))


def both_again_mended():
    def train(x):
        return (x * 0.9).sum()

    def evaluate(x):
        return x.sum()

    steps = jax.jit(train), jax.jit(evaluate)
    for _ in range(3):
        for step in steps:
            step(ones(W))


def memory_accident():
    step = jax.jit(lambda x: square(x) * 3)
    device = jax.devices()[0]
    for kind in ("device", "device", "pinned_host"):
        step(jax.device_put(ones(W), jax.sharding.SingleDeviceSharding(device, memory_kind=kind)))  # <- here


def memory_mended():
    step = jax.jit(lambda x: square(x) * 3)
    device = jax.devices()[0]
    for _ in range(3):
        step(jax.device_put(ones(W), jax.sharding.SingleDeviceSharding(device, memory_kind="device")))


def inner_dtype_accident():
    def make(dtype):
        return jax.jit(lambda x, w: square((lax.iota(dtype, W) * 2) @ w.astype(dtype)) + x.sum())  # <- here

    for dtype in (np.float32, jnp.bfloat16):
        make(dtype)(ones(8, W), ones(W, 2))


def inner_dtype_mended():
    step = jax.jit(lambda x, w: square((lax.iota(np.float32, W) * 2) @ w) + x.sum())
    for _ in range(2):
        step(ones(8, W), ones(W, 2))


def transposed_accident():
    step = jax.jit(lambda w, x: square(x @ (w if w.shape[0] == x.shape[1] else w.T)))
    for w in (ones(W, 3), ones(3, W)):
        step(w, ones(2, W))  # <- here


def transposed_mended_order():
    step = jax.jit(lambda w, x: square(x @ w))
    for w in (ones(W, 3), ones(3, W)):
        step(w if len(w) == W else w.T, ones(2, W))


def transposed_mended_pad():
    step = jax.jit(lambda image, mask: square(image * mask))
    for rows, columns in ((W, W + 1), (W + 1, W)):
        margin = ((0, W + 1 - rows), (0, W + 1 - columns))
        step(np.pad(ones(rows, columns), margin), np.pad(ones(rows, columns), margin))


def field_accident():
    step = jax.jit(lambda scaler, x: square(x) * scaler.scale)  # <- here
    for scale in (16.0, 8.0):
        step(StaticScaler(ones(W), scale), ones(W))


def field_mended_array():
    step = jax.jit(lambda scaler, x: square(x) * scaler.scale)
    for scale in (16.0, 8.0):
        step(Scaler(ones(W), np.float32(scale)), ones(W))


def field_mended_value():
    step = jax.jit(lambda scaler, x: square(x) * scaler.scale)
    for _ in range(2):
        step(StaticScaler(ones(W), 16.0), ones(W))


def transformed_accident():
    def between(a, b, x):
        return square(jnp.tanh(x * a) * b)  # <- here

    for argnums in (0, (0, 1)):
        jax.jit(jax.grad(between, argnums=argnums))(ones(W), ones(W), ones(W))


def transformed_mended():
    def between(a, b, x):
        return square(jnp.tanh(x * a) * b)

    @jax.jit
    def of_first(a, b, x):
        return jax.grad(between)(a, b, x)

    @jax.jit
    def of_both(a, b, x):
        return jax.grad(between, argnums=(0, 1))(a, b, x)

    for _ in range(2):
        of_first(ones(W), ones(W), ones(W))
        of_both(ones(W), ones(W), ones(W))


def dtype_accident():
    step = jax.jit(lambda x: square(x))
    step(np.arange(W, dtype=np.int32))
    step(np.arange(W, dtype=np.float32))  # <- here


def dtype_mended():
    step = jax.jit(lambda x: square(x))
    step(jnp.asarray(np.arange(W, dtype=np.int32), jnp.float32))
    step(jnp.asarray(np.arange(W, dtype=np.float32), jnp.float32))


def weak_type_accident():
    @jax.jit
    def step(x, scale):
        return x * scale

    x = jnp.ones(W, jnp.bfloat16)
    step(x, 0.5)
    step(x, jnp.float32(0.5))  # <- here


def weak_type_mended():
    @jax.jit
    def step(x, scale):
        return x * scale

    x = jnp.ones(W, jnp.bfloat16)
    step(x, jnp.asarray(0.5, x.dtype))
    step(x, jnp.asarray(jnp.float32(0.5), x.dtype))


def arguments_accident_keys():
    @jax.jit
    def step(batch):
        return (batch["x"] * 2 + batch.get("bias", 0)).sum()

    step({"x": ones(8, W)})
    step({"x": ones(8, W), "bias": ones(W)})  # <- here


def arguments_mended_keys():
    @jax.jit
    def step(batch):
        return (batch["x"] * 2 + batch.get("bias", 0)).sum()

    step({"x": ones(8, W), "bias": np.zeros(W, np.float32)})
    step({"x": ones(8, W), "bias": ones(W)})


def arguments_accident_list():
    @jax.jit
    def step(parts):
        return sum(part.sum() for part in parts)

    step([ones(8, W)] * 2)
    step([ones(8, W)] * 3)  # <- here


def arguments_mended_list():
    @jax.jit
    def step(parts):
        return sum(part.sum() for part in parts)

    step([ones(8, W)] * 2 + [np.zeros((8, W), np.float32)])
    step([ones(8, W)] * 3)


def left_out_accident():
    @jax.jit
    def step(x, mask=None):
        return square(x) if mask is None else square(x * mask)

    step(ones(8, W))
    step(ones(8, W), ones(8, W))  # <- here


@jax.jit
def layered_step(trained, frozen, x):
    def loss(trained):
        return functools.reduce(lambda h, w: jnp.tanh(h @ w), frozen + trained, x).mean()

    return [w - 0.1 * g for w, g in zip(trained, jax.grad(loss)(trained))]


@jax.jit
def masked_layered_step(trained, x, rates):
    def loss(trained):
        return functools.reduce(lambda h, w: jnp.tanh(h @ w), trained, x).mean()

    return [w - rate * g for w, g, rate in zip(trained, jax.grad(loss)(trained), rates)]


def moved_accident():
    weights = [ones(W, 6), ones(6, 5), ones(5, 3)]
    for depth in (0, 1):
        layered_step(weights[depth:], weights[:depth], ones(8, W))  # <- here


def moved_mended_in_its_place():
    weights = [ones(W, 6), ones(6, 5), ones(5, 3)]
    for rate in (0.1, 0.0):
        masked_layered_step(weights, ones(8, W), [np.float32(rate), np.float32(0.1), np.float32(0.1)])


def left_out_mended_start():
    @jax.jit
    def step(x, mask):
        return square(x * mask)

    step(ones(8, W), ones(8, W))
    step(ones(8, W), ones(8, W))


def left_out_mended_each():
    @jax.jit
    def step(x):
        return square(x)

    @jax.jit
    def masked_step(x, mask):
        return square(x * mask)

    step(ones(8, W))
    masked_step(ones(8, W), ones(8, W))


def axis_accident():
    @functools.partial(jax.jit, static_argnums=1)
    def step(x, axis):
        return square(x.sum(axis))

    step(ones(W, W), 0)
    step(ones(W, W), 1)  # <- here


def axis_mended():
    @functools.partial(jax.jit, static_argnums=1)
    def step(x, axis):
        return square(x.sum(axis))

    for _ in range(2):
        step(ones(W, W), 0)


def axis_mended_each():
    @jax.jit
    def step(x):
        return square(x.sum(0))

    @jax.jit
    def step_of_columns(x):
        return square(x.sum(1))

    step(ones(W, W))
    step_of_columns(ones(W, W))


def list_grows_accident():
    @jax.jit
    def step(w, history):
        for gradient in history:
            w = w - gradient
        return w

    w, history = ones(W), [ones(W)]
    for _ in range(4):
        w = step(w, history)  # <- here
        history = [*history, ones(W)]


def list_grows_mended_stack():
    @jax.jit
    def step(w, history, count):
        counts = jnp.arange(8)[:, None] < count
        return w - jnp.where(counts, history, 0).sum(0)

    w, history = ones(W), np.zeros((8, W), np.float32)
    for count in range(1, 5):
        history[count - 1] = 1
        w = step(w, history, np.int32(count))


def list_grows_mended_take_off():
    @jax.jit
    def step(w, kept):
        return w - sum(kept), [*kept, jnp.tanh(w)]

    w, kept = ones(W), [ones(W)]
    for _ in range(4):
        w, kept = step(w, kept)
        kept.pop()


for name in sys.argv[1:]:
    globals()[name]()
    W += 1
