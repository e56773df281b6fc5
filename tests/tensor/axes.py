"""Axes of size 1, parts, and functions that models write again and again, as cases of against_jax.py."""

import ctypes

import front
import jax
import jax.numpy as jnp


class Axes:
    """By JAX."""

    def expand(self, x, axis):
        return jnp.expand_dims(x, axis)

    def squeeze(self, x, axis):
        return jnp.squeeze(x, axis)

    def reduce_kept(self, op, x, axes):
        return self.REDUCE[front.REDUCE[op]](x, axis=tuple(axes), keepdims=True).astype(x.dtype)

    def mean_kept(self, x, axes):
        return jnp.mean(x, axis=tuple(axes), keepdims=True)

    def split(self, x, axis, count, which):
        return jnp.split(x, count, axis)[which]

    def stack(self, tensors, axis):
        return jnp.stack(tensors, axis)

    def pad_with(self, x, axis, before, after, value):
        widths = [(0, 0)] * x.ndim
        widths[axis] = (before.value, after.value)
        return jnp.pad(x, widths, constant_values=value)

    def logsumexp(self, x, axis):
        return jax.scipy.special.logsumexp(x.astype("float32") if x.itemsize < 4 else x, axis).astype(x.dtype)

    def softplus(self, x):
        return jax.nn.softplus(x.astype("float32") if x.itemsize < 4 else x).astype(x.dtype)

    def clamp(self, x, low, high):
        return jnp.clip(x, low, high)

    def rope(self, x, places, base):
        half = x.shape[-1] // 2
        frequency = jnp.float32(base.value) ** (-jnp.arange(half, dtype="float32") / half)
        places = places.astype("float32").reshape(*([1] * (2 - places.ndim)), *places.shape, *([1] * (x.ndim - 2)))
        angle = places * frequency
        a, b = jnp.split(x.astype("float32"), 2, -1)
        return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), b * jnp.cos(angle) + a * jnp.sin(angle)], -1).astype(x.dtype)

    def array(self, x, values):
        return jnp.asarray(values)

    def lowest(self, x):
        return jnp.asarray(jnp.finfo(x.dtype).min if x.dtype.kind not in "iu" else jnp.iinfo(x.dtype).min, x.dtype)

    def product(self, x, y, precision, dtype):
        return jnp.matmul(x, y, precision="highest", preferred_element_type=front.NUMPY[front.DTYPES[dtype]])

    def categorical(self, key, logits, axis):
        return jax.random.categorical(jax.random.wrap_key_data(key), logits, axis).astype("int32")


class FrontAxes:
    def split(self, x, axis, count, which):
        out = (front.Tensor * count)()
        self.c.keel_split_at.restype = None
        self.c.keel_split_at(front.HERE, x, axis, ctypes.c_size_t(count), out)
        return out[which]

    def stack(self, tensors, axis):
        return self.call("stack", (front.Tensor * len(tensors))(*tensors), ctypes.c_size_t(len(tensors)), axis)

    def array(self, x, values):
        return self.call("constant_array", self.context, front.dtype_of(values), front.shape_of(values.shape),
                         values.ctypes.data_as(ctypes.c_void_p))

    def lowest(self, x):
        return self.call("lowest", x)

    def product(self, x, y, precision, dtype):
        self.c.keel_dtype.restype = ctypes.c_int
        dtype = max(dtype, self.c.keel_dtype(x))  # differences.py gives f64
        return self.call("matmul_as", x, y, Product(precision, dtype))

    def categorical(self, key, logits, axis):
        return self.call("random_categorical", key, logits, axis)


class Product(ctypes.Structure):
    _fields_ = [("precision", ctypes.c_int), ("dtype", ctypes.c_int)]


def long(value):
    return ctypes.c_int64(value)


def fill(add, floats, integers, dtypes):
    import numpy

    for axis in (0, 1, 2, -1):
        add(f"expand {axis}", lambda k, x, a=axis: k.call("expand", x, a), floats(2, 3))
    add("squeeze", lambda k, x: k.call("squeeze", k.call("squeeze", x, -2), 0), floats(1, 3, 1, 2))
    for op in ("SUM", "MAX", "MIN"):
        for axes in ((0,), (-1, 0), ()):
            add(f"kept {op} {axes}", lambda k, x, o=front.REDUCE.index(op), a=axes: k.call("reduce_kept", o, x, k.axes(*a)),
                floats(2, 3, 4))
    add("kept MEAN", lambda k, x: k.call("mean_kept", x, k.axes(1)), floats(2, 3, 4))
    for which in range(3):
        add(f"split {which}", lambda k, x, w=which: k.split(x, -1, 3, w), floats(2, 6))
    for axis in (0, 1, 2, -1):
        add(f"stack {axis}", lambda k, x, y, a=axis: k.stack([x, y, x], a), floats(2, 3), floats(2, 3))
    for before, after in ((0, 0), (2, 0), (0, 1), (1, 3)):
        add(f"pad_with {before} {after}", lambda k, x, v, b=before, a=after: k.call("pad_with", x, 1, long(b), long(a), v),
            floats(2, 3), floats())
    add("pad_with i32", lambda k, x, v: k.call("pad_with", x, 0, long(1), long(1), v), integers(4), integers())
    for dtype in ("float32", "float64", "bfloat16", "float16"):
        add(f"logsumexp {dtype}", lambda k, x: k.call("logsumexp", x, 1), floats(3, 5, 2).astype(dtype))
        add(f"softplus {dtype}", lambda k, x: k.call("softplus", x), floats(3, 5, low=-9, high=9).astype(dtype))
        add(f"lowest {dtype}", lambda k, x: k.lowest(x), floats(1).astype(dtype))
        add(f"rope {dtype}", lambda k, x, p: k.call("rope", x, p, ctypes.c_double(10000)), floats(2, 4, 3, 6).astype(dtype),
            numpy.arange(4, dtype="int32"))
    for dtype in ("int8", "int32", "int64", "uint16"):
        add(f"lowest {dtype}", lambda k, x: k.lowest(x), integers(1, low=0).astype(dtype))
    ends = numpy.array([[1e4, -1e4, 0], [-numpy.inf, 1, 2], [3, 3, 3]], "float32")
    add("logsumexp at its ends", lambda k, x: k.call("logsumexp", k.call("stop_gradient", x), -1), ends)
    add("softplus at its ends", lambda k, x: k.call("softplus", k.call("stop_gradient", x)), ends)
    add("softplus at 0", lambda k, x: k.call("softplus", x), numpy.array([0, 1e4, -1e4, 100, -100], "float32"))
    add("clamp", lambda k, x: k.call("clamp", x, k.number(x, -1), k.number(x, 0.5)), floats(3, 5))
    add("rope of a row of places", lambda k, x, p: k.call("rope", x, p, ctypes.c_double(500)), floats(2, 4, 8), integers(2, 4))
    table = numpy.array([[3, -1, 2], [0, 7, 5]], "int32")
    add("array", lambda k, x, t=table: k.binary("ADD", x, k.array(x, t)), integers(2, 3))
    add("array of floats", lambda k, x, t=table: k.binary("MULTIPLY", x, k.array(x, (t / 7).astype("float32"))), floats(2, 3))
    add("array of bool", lambda k, x, t=table: k.call("select", k.array(x, t > 2), x, k.number(x, 0)), floats(2, 3))
    add("array of one", lambda k, x: k.binary("ADD", x, k.array(x, numpy.array([2.5], "float32"))), floats(3))
    for name, dtype in (("BF16", "bfloat16"), ("F16", "float16"), ("F32", "float32")):
        for precision in range(3):
            add(f"product {dtype} F32 {precision}", lambda k, x, y, p=precision: k.product(x, y, p, dtypes["F32"]),
                floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype))
    add("product turned", lambda k, x, y: k.product(k.call("transpose", x, k.axes(1, 2, 0)), y, 2, dtypes["F32"]),
        floats(4, 2, 3, dtype="bfloat16"), floats(2, 4, 5, dtype="bfloat16"))
    key = numpy.array([3, 9], "uint32")
    add("gumbel", lambda k, x: k.random("gumbel", x, [4, 33]), key)
    add("categorical", lambda k, x, y: k.categorical(x, y, -1), key, floats(64, 7))
