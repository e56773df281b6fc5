#!/usr/bin/env python3
"""Holds each operation of the front end, and its gradient, against JAX.

Usage: tests/tensor/against_jax.py LIBKEEL [NAME...]

A case is a function that takes `k`, either the front end or JAX in the same words, and tensors. Both
get the same values; forward results agree within 1e-5 of the largest, gradients of the sum of the
result times fixed weights within 1e-4. Integers and bools are equal.
"""

import functools
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_ENABLE_X64", "1")
import arrays  # noqa: E402
import axes  # noqa: E402
import complexes  # noqa: E402
import front  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402

VALUE, GRADIENT = 1e-5, 1e-4
# Of small floats, about one unit in the last place; a gradient adds up four.
SMALL = {"bfloat16": 2**-7, "float16": 2**-10, "float8_e4m3fn": 2**-2, "float8_e5m2": 2**-1}
TOGETHER = 40  # cases in a program: compiling is what takes time


class Jax(arrays.Arrays, axes.Axes, complexes.Complexes):
    """What front.Front offers, by JAX."""

    UNARY = {
        "NEGATE": jnp.negative, "ABS": jnp.abs, "SIGN": jnp.sign, "FLOOR": jnp.floor,
        "CEIL": jnp.ceil, "EXP": jnp.exp, "EXPM1": jnp.expm1, "LOG": jnp.log, "LOG1P": jnp.log1p,
        "SQRT": jnp.sqrt, "RSQRT": jax.lax.rsqrt, "TANH": jnp.tanh, "SIGMOID": jax.nn.sigmoid,
        "SIN": jnp.sin, "COS": jnp.cos, "NOT": jnp.bitwise_not, "TAN": jnp.tan, "ERF": jax.scipy.special.erf,
        "CBRT": jnp.cbrt, "ROUND": jnp.round, "POPCOUNT": jax.lax.population_count,
        "LEADING_ZEROS": jax.lax.clz,
    }
    BINARY = {
        "ADD": jnp.add, "SUBTRACT": jnp.subtract, "MULTIPLY": jnp.multiply,
        "DIVIDE": lambda x, y: jax.lax.div(*jnp.broadcast_arrays(x, y)),
        "REMAINDER": lambda x, y: jax.lax.rem(*jnp.broadcast_arrays(x, y)),
        "MAXIMUM": jnp.maximum, "MINIMUM": jnp.minimum, "POWER": jnp.power,
        "AND": jnp.bitwise_and, "OR": jnp.bitwise_or, "XOR": jnp.bitwise_xor, "ATAN2": jnp.arctan2,
        "SHIFT_LEFT": lambda x, y: jax.lax.shift_left(*jnp.broadcast_arrays(x, y)),
        "SHIFT_RIGHT": lambda x, y: jax.lax.shift_right_logical(*jnp.broadcast_arrays(x, y)),
    }
    COMPARE = {
        "EQUAL": jnp.equal, "NOT_EQUAL": jnp.not_equal, "LESS": jnp.less,
        "LESS_EQUAL": jnp.less_equal, "GREATER": jnp.greater, "GREATER_EQUAL": jnp.greater_equal,
    }
    REDUCE = {"SUM": jnp.sum, "MAX": jnp.max, "MIN": jnp.min, "PRODUCT": jnp.prod, "ALL": jnp.all, "ANY": jnp.any}

    def unary(self, op, x):
        return self.UNARY[op](x)

    def binary(self, op, x, y):
        return self.BINARY[op](x, y)

    def compare(self, op, x, y):
        return self.COMPARE[op](x, y)

    def reduce(self, op, x, axes):
        result = self.REDUCE[op](x, axis=tuple(axes))
        return result.astype(x.dtype)

    def slope(self, function, x):
        """The gradient of the sum of the result."""
        return jax.grad(lambda y: jnp.sum(function(y)))(x)

    def number(self, like, value):
        return jnp.asarray(value, like.dtype)

    def axes(self, *axes):
        return axes

    def call(self, name, *arguments):
        return getattr(self, name)(*arguments)

    def constant(self, like, value):
        value = getattr(value, "value", value)
        return jnp.asarray(value if is_float(like) else min(int(value), jnp.iinfo(like.dtype).max), like.dtype)

    def select(self, mask, x, y):
        return jnp.where(mask, x, y)

    def cast(self, x, dtype):
        return x.astype(front.NUMPY[front.DTYPES[dtype]])

    def matmul(self, x, y):
        return jnp.matmul(x, y, precision="highest")

    def dot(self, x, y, bx, by, sx, sy):
        return jax.lax.dot_general(x, y, ((sx, sy), (bx, by)), precision="highest")

    def mean(self, x, axes):
        return jnp.mean(x, axis=tuple(axes))

    def reshape(self, x, shape):
        return jnp.reshape(x, shape)

    def broadcast(self, x, shape):
        return jnp.broadcast_to(x, shape)

    def transpose(self, x, order):
        return jnp.transpose(x, order)

    def slice(self, x, axis, start, stop):
        return jax.lax.slice_in_dim(x, start.value, stop.value, axis=axis)

    def pad(self, x, axis, before, after):
        widths = [(0, 0)] * x.ndim
        widths[axis] = (before.value, after.value)
        return jnp.pad(x, widths)

    def concatenate(self, x, y, axis):
        return jnp.concatenate([x, y], axis)

    def take(self, table, rows):
        return jnp.take(table, rows, axis=0, mode="clip")

    def one_hot(self, x, n, dtype):
        x = x.astype("int32")  # of uint8, JAX counts in uint8
        return jax.nn.one_hot(x, n.value, dtype=front.NUMPY[front.DTYPES[dtype]])

    def stop_gradient(self, x):
        return jax.lax.stop_gradient(x)

    def relu(self, x):
        return jax.nn.relu(x)

    def silu(self, x):
        return jax.nn.silu(x)

    def gelu(self, x):
        return jax.nn.gelu(x, approximate=True)

    def softmax(self, x, axis):
        return jax.nn.softmax(x, axis)

    def log_softmax(self, x, axis):
        return jax.nn.log_softmax(x, axis)

    def rms_norm(self, x, scale, epsilon):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + epsilon.value) * scale

    def layer_norm(self, x, scale, shift, epsilon):
        x = x - jnp.mean(x, -1, keepdims=True)
        return self.rms_norm(x, scale, epsilon) + shift

    def cross_entropy(self, logits, targets):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1)[..., 0]


class Front(front.Front, arrays.FrontArrays, axes.FrontAxes):
    pass


# ---- cases: name -> (function of k and tensors, inputs) ------------------------------------------

RANDOM = numpy.random.default_rng(7)


def floats(*shape, dtype="float32", low=-2.0, high=2.0):
    return RANDOM.uniform(low, high, shape).astype(dtype)


def integers(*shape, dtype="int32", low=-5, high=6):
    return RANDOM.integers(low, high, shape).astype(dtype)


def long(value):
    import ctypes

    return ctypes.c_int64(value)


def double(value):
    import ctypes

    return ctypes.c_double(value)


DTYPE = {name: i for i, name in enumerate(front.DTYPES)}
CASES = {}
NAN = numpy.array([numpy.nan, 1, -0.0, 2, -1], "float32")
FLOATS = ["float32", "float64", "bfloat16", "float16"]
INTEGERS = ["int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64"]


def add(name, function, *inputs):
    assert name not in CASES, name
    CASES[name] = (function, inputs)


def add_elementwise():
    above = {"LOG", "SQRT", "RSQRT", "LOG1P"}
    for op in front.UNARY:
        function = lambda k, x, op=op: k.unary(op, x)  # noqa: E731
        of_bits = {"NOT": ["bool", *INTEGERS], "POPCOUNT": INTEGERS, "LEADING_ZEROS": INTEGERS}
        for dtype in of_bits.get(op, FLOATS):
            for shape in [(), (3,), (2, 0, 3), (2, 3, 4), (1,) * 8]:
                low = 0.1 if op in above else -2
                values = integers(*shape, low=0) if op in of_bits else floats(*shape, low=low)
                add(f"{op} {dtype}{list(shape)}", function, values.astype(dtype))
    for op in ("NEGATE", "ABS", "SIGN"):
        for dtype in ("int32", "int8", "int64"):
            add(f"{op} {dtype}", lambda k, x, op=op: k.unary(op, x), integers(3, 4, dtype=dtype))
    shapes = [((3,), (3,)), ((), (2, 3)), ((2, 1, 4), (3, 1)), ((1,), (0,)), ((4, 1), (1, 5))]
    for op in front.BINARY:
        function = lambda k, x, y, op=op: k.binary(op, x, y)  # noqa: E731
        is_bits = op in ("AND", "OR", "XOR")
        if op.startswith("SHIFT"):  # arrays.py
            continue
        for dtype in ["bool", "int32", "uint8"] if is_bits else [*FLOATS, "int32", "int64"]:
            if op in ("POWER", "ATAN2") and dtype.startswith("int"):
                continue
            for x, y in shapes:
                if is_bits or dtype.startswith("int"):
                    values = integers(*x, low=1), integers(*y, low=1)
                else:
                    values = floats(*x, low=0.5), floats(*y, low=0.5)
                add(f"{op} {dtype}{list(x)}{list(y)}", function,
                    *(v.astype(dtype) for v in values))
    ties = numpy.array([1, 2, 3], "float32"), numpy.array([1, 5, 2], "float32")
    for op in ("MAXIMUM", "MINIMUM"):
        add(f"{op} of equals", lambda k, x, y, op=op: k.binary(op, x, y), *ties)
        add(f"{op} of NaN", lambda k, x, y, op=op: k.binary(op, x, y), NAN, NAN[::-1].copy())
        for dtype in FLOATS:
            add(f"{op} of NaN and {dtype}", lambda k, x, op=op: k.binary(op, x, k.number(x, 1)), NAN.astype(dtype))
    add("CBRT at its ends", lambda k, x: k.unary("CBRT", x), numpy.array([0, -0.0, numpy.inf, -numpy.inf, 8], "float32"))
    add("POWER 0", lambda k, x, y: k.binary("POWER", x, y),
        numpy.array([0.5, 2, 3], "float32"), numpy.array([0, 2, -1], "float32"))
    for op in front.COMPARE:
        for dtype in ("float32", "int32", "bfloat16"):
            add(f"{op} {dtype}", lambda k, x, y, op=op: k.compare(op, x, y),
                integers(5, 4).astype(dtype), integers(4).astype(dtype))
    add("promote i32 i64", lambda k, x, y: k.binary("ADD", x, y), integers(3), integers(3, dtype="int64"))
    add("promote bf16 f32", lambda k, x, y: k.binary("MULTIPLY", x, y), floats(3, dtype="bfloat16"), floats(3))
    add("promote bool i32", lambda k, x, y: k.binary("ADD", x, y), integers(3, low=0, high=2).astype("bool"), integers(3))
    add("number", lambda k, x: k.binary("MULTIPLY", x, k.number(x, 0.1)), floats(2, 3))
    add("number bf16", lambda k, x: k.binary("MULTIPLY", x, k.number(x, 1 / 3)), floats(2, 3, dtype="bfloat16"))
    add("number i32", lambda k, x: k.binary("ADD", x, k.number(x, -7)), integers(2, 3))
    for dtype, value in (*((dtype, 3.3) for dtype in FLOATS), ("int32", -3), ("uint8", 255), ("int64", 2.0**63)):
        add(f"constant {dtype}", lambda k, x, v=value: k.binary("SUBTRACT", x, k.call("constant", x, double(v))),
            integers(3, low=0).astype(dtype))
    add("select", lambda k, x, y: k.call("select", k.compare("LESS", x, y), x, y), floats(2, 3), floats(3))
    add("select scalar", lambda k, x: k.call("select", k.compare("LESS", x, k.number(x, 0)), k.number(x, -1), x), floats(2, 3))


def add_casts():
    for source in (*FLOATS, "int32", "uint8", "bool"):
        for target in ("F32", "BF16", "F16", "F64", "I32", "U8", "BOOL", "F8E4M3FN", "F8E5M2"):
            add(f"cast {source} {target}", lambda k, x, t=target: k.call("cast", x, DTYPE[t]),
                integers(7, low=0).astype(source))


def add_products():
    for x, y in [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 1, 2, 3), (5, 3, 1)),
                 ((0, 3), (3, 2)), ((2, 0), (0, 3))]:
        for dtype in ("float32", "float64"):
            add(f"matmul {dtype}{list(x)}{list(y)}", lambda k, x, y: k.call("matmul", x, y),
                floats(*x, dtype=dtype), floats(*y, dtype=dtype))
    for name, x, y, bx, by, sx, sy in [
        ("all", (2, 3), (2, 3), (), (), (0, 1), (0, 1)),
        ("crossed", (2, 3, 4), (4, 5, 2), (), (), (0, 2), (2, 0)),
        ("batch", (3, 2, 4), (2, 3, 5), (0, 1), (1, 0), (), ()),
        ("attention", (2, 6, 3, 4), (2, 5, 3, 4), (0, 2), (0, 2), (3,), (3,)),
        ("outer", (2,), (3,), (), (), (), ()),
        ("turned", (2, 3, 4, 5), (5, 7, 3, 2), (1,), (2,), (3, 0), (0, 3)),
    ]:
        def function(k, x, y, bx=bx, by=by, sx=sx, sy=sy):
            return k.call("dot", x, y, k.axes(*bx), k.axes(*by), k.axes(*sx), k.axes(*sy))

        add(f"dot {name}", function, floats(*x), floats(*y))


def add_shapes():
    for op in front.REDUCE:
        for axes in [(0,), (1,), (-1, 0), (0, 1, 2), ()]:
            for dtype in ("bool",) if op in ("ALL", "ANY") else ("float32", "int32"):
                add(f"{op} {dtype}{list(axes)}", lambda k, x, op=op, a=axes: k.reduce(op, x, a),
                    (floats(2, 3, 4) if dtype == "float32" else integers(2, 3, 4)).astype(dtype))
    for op in front.REDUCE:
        if op in ("ALL", "ANY"):
            continue
        for dtype in FLOATS:
            add(f"{op} {dtype} of NaN", lambda k, x, op=op: k.call("stop_gradient", k.reduce(op, x, (0,))),
                numpy.stack([NAN, NAN[::-1]]).astype(dtype))
    add("SUM of nothing", lambda k, x: k.reduce("SUM", x, (1,)), floats(2, 0, 3))
    for op, dtype in [("PRODUCT", "float32"), ("PRODUCT", "int32"), ("ALL", "bool"), ("ANY", "bool")]:
        add(f"{op} of nothing {dtype}", lambda k, x, op=op: k.reduce(op, x, (1,)), floats(2, 0, 3).astype(dtype))
        add(f"{op} of rank 0 {dtype}", lambda k, x, op=op: k.reduce(op, x, ()), integers(low=0, high=2).astype(dtype))
        add(f"{op} of rank 8 {dtype}", lambda k, x, op=op: k.reduce(op, x, (1, 3, -1)),
            integers(1, 2, 1, 3, 1, 2, 1, 2, low=0, high=2).astype(dtype))
    for dtype in (*FLOATS, *INTEGERS):
        add(f"PRODUCT {dtype} of 7", lambda k, x: k.reduce("PRODUCT", x, (1,)), integers(3, 7, low=1, high=4).astype(dtype))
    for zeros in ((0, 0), (1, 0), (1, 1)):
        values = floats(2, 5)
        values[0, 1], values[0, 3] = values[0, 1] * (1 - zeros[0]), values[0, 3] * (1 - zeros[1])
        add(f"PRODUCT with zeros {zeros}", lambda k, x: k.reduce("PRODUCT", x, (1,)), values)
        add(f"PRODUCT twice with zeros {zeros}", lambda k, x: k.slope(lambda y: k.reduce("PRODUCT", y, (1,)), x), values)
    add("MAX of equals", lambda k, x: k.reduce("MAX", x, (0,)), numpy.array([3, 1, 3, 2], "float32"))
    add("MAX uint8", lambda k, x: k.reduce("MAX", x, (0,)), integers(4, 3, low=0, dtype="uint8"))
    add("MIN int64", lambda k, x: k.reduce("MIN", x, (0,)), integers(4, 3, dtype="int64"))
    add("mean", lambda k, x: k.call("mean", x, k.axes(0, 2)), floats(2, 3, 4))
    add("reshape", lambda k, x: k.call("reshape", x, k.axes(4, 6)), floats(2, 3, 4))
    add("reshape scalar", lambda k, x: k.call("reshape", x, k.axes()), floats(1, 1))
    add("broadcast", lambda k, x: k.call("broadcast", x, k.axes(5, 2, 3)), floats(2, 1))
    add("broadcast scalar", lambda k, x: k.call("broadcast", x, k.axes(2, 3)), floats())
    add("transpose", lambda k, x: k.call("transpose", x, k.axes(2, 0, 1)), floats(2, 3, 4))
    add("transpose negative", lambda k, x: k.call("transpose", x, k.axes(-1, 0, 1)), floats(2, 3, 4))
    for axis, start, stop in [(0, 0, 2), (1, 1, 3), (-1, 2, 2), (2, 3, 4)]:
        add(f"slice {axis} {start} {stop}", lambda k, x, a=axis, b=start, e=stop: k.call("slice", x, a, long(b), long(e)), floats(2, 3, 4))
    for parts in [(0, 3, 6, 9), (6, 9, 3, 6, 0, 3), (0, 3, 6, 9, 3, 6), (3, 6, 0, 3), (0, 3, 6, 9, 5, 7), (2, 4, 6, 9)]:
        ranges = list(zip(parts[::2], parts[1::2]))
        add(f"parts {ranges}", lambda k, x, r=ranges: functools.reduce(
            lambda joined, part: k.call("concatenate", joined, part, 1),
            [k.call("slice", x, 1, long(b), long(e)) for b, e in r]), floats(2, 9))
    for axis, before, after in [(0, 1, 0), (1, 2, 3), (-1, 0, 0)]:
        add(f"pad {axis} {before} {after}", lambda k, x, a=axis, b=before, e=after: k.call("pad", x, a, long(b), long(e)), floats(2, 3))
    for axis in (0, 1, -1):
        add(f"concatenate {axis}", lambda k, x, y, a=axis: k.call("concatenate", x, y, a),
            floats(2, 3), floats(*((5, 3) if axis == 0 else (2, 4))))
    for table, rows in [((5, 3), (4,)), ((5,), (2, 3)), ((5, 2, 3), ()), ((5, 3), (0,))]:
        add(f"take {list(table)}{list(rows)}", lambda k, t, r: k.call("take", t, r),
            floats(*table), integers(*rows, low=0, high=5))
    add("take out of range", lambda k, t, r: k.call("take", t, r), floats(5, 2), numpy.array([-1, 7, 2, 2], "int32"))
    add("one_hot", lambda k, x: k.call("one_hot", x, long(4), DTYPE["F32"]), integers(2, 3, low=-1, high=5))
    add("one_hot uint8", lambda k, x: k.call("one_hot", x, long(300), DTYPE["F32"]), integers(4, low=0, high=9, dtype="uint8"))
    for op in ("MAX", "MIN"):
        for dtype in ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16"):
            add(f"{op} {dtype}", lambda k, x, op=op: k.call("cast", k.reduce(op, x, (0,)), DTYPE["F32"]),
                integers(5, 3).astype(dtype))
    add("stop_gradient", lambda k, x: k.binary("MULTIPLY", x, k.call("stop_gradient", x)), floats(3))


def add_layers():
    for name in ("relu", "silu", "gelu"):
        for dtype in ("float32", "float64"):
            add(f"{name} {dtype}", lambda k, x, name=name: k.call(name, x), floats(3, 4, dtype=dtype))
    add("relu at 0", lambda k, x: k.call("relu", x), numpy.array([-1, 0, 1], "float32"))
    for dtype in ("float16", "bfloat16"):
        add(f"softmax {dtype}", lambda k, x: k.call("softmax", x, -1), floats(3, 4, dtype=dtype))
        add(f"rms_norm {dtype}", lambda k, x, w: k.call("rms_norm", x, w, double(1e-6)),
            floats(2, 8, dtype=dtype), floats(8, dtype=dtype))
    for axis in (0, 1, -1):
        add(f"softmax {axis}", lambda k, x, a=axis: k.call("softmax", x, a), floats(3, 4, 5))
        add(f"log_softmax {axis}", lambda k, x, a=axis: k.call("log_softmax", x, a), floats(3, 4, 5))
    add("softmax large", lambda k, x: k.call("softmax", x, -1), floats(3, 4) * 1e4)
    add("rms_norm", lambda k, x, w: k.call("rms_norm", x, w, double(1e-6)), floats(2, 3, 8), floats(8))
    add("layer_norm", lambda k, x, w, b: k.call("layer_norm", x, w, b, double(1e-5)), floats(2, 3, 8), floats(8), floats(8))
    add("cross_entropy", lambda k, x, t: k.call("cross_entropy", x, t), floats(2, 3, 7), integers(2, 3, low=0, high=7))
    impossible = floats(2, 7)
    impossible[:, 5] = -numpy.inf
    add("cross_entropy of what is impossible", lambda k, x, t: k.call("cross_entropy", x, t), impossible,
        integers(2, low=0, high=5))
    add("twice used", lambda k, x: k.binary("MULTIPLY", k.unary("SIN", x), k.binary("ADD", x, x)), floats(4))


def weights_of(array):
    weights = numpy.cos(numpy.arange(array.size)).reshape(array.shape).astype("float64")
    if array.dtype.kind == "c":
        weights = weights + 1j * numpy.sin(numpy.arange(array.size)).reshape(array.shape)
    return weights


def is_float(array):
    return array.dtype.kind not in "biu"


def parts_of(array):
    """The parts of complex numbers along a new axis 0."""
    return numpy.stack([array.real, array.imag]) if array.dtype.kind == "c" else array


def trouble(ours, theirs, tolerance):
    """What is wrong with ours; "" if nothing is."""
    theirs = numpy.asarray(theirs)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{ours.shape} is not {theirs.dtype}{theirs.shape}"
    if not is_float(ours):
        return "" if (ours == theirs).all() else f"{ours} is not {theirs}"
    if str(ours.dtype) in SMALL:
        tolerance = SMALL[str(ours.dtype)] * (4 if tolerance == GRADIENT else 1)
    ours, theirs = parts_of(ours).astype("float64"), parts_of(theirs).astype("float64")
    largest = max(1e-30, float(numpy.abs(theirs[numpy.isfinite(theirs)]).max(initial=0)))
    same = (ours == theirs) | (numpy.isnan(ours) & numpy.isnan(theirs))
    error = numpy.where(same, 0, numpy.abs(ours - theirs) / largest)
    return "" if (error <= tolerance).all() else f"{error.max():.3g} apart: {ours} is not {theirs}"


def of_jax(function, arrays, floating):
    """The value, and the gradients with respect to the inputs that are floats."""
    value = function(Jax(), *arrays)
    if not is_float(value) or not floating:
        return [value]
    weights = jnp.asarray(weights_of(value).astype(value.dtype))

    def loss(*some):
        full = list(arrays)
        for place, array in zip(floating, some):
            full[place] = array
        return jnp.sum((function(Jax(), *full) * weights).real)

    return [value, *jax.grad(loss, tuple(range(len(floating))))(*(arrays[i] for i in floating))]


def floating_of(inputs):
    return [i for i, x in enumerate(inputs) if is_float(x)]


def all_of_jax(cases):
    def compute(all_inputs):
        return [of_jax(function, arrays, floating_of(arrays))
                for (_, (function, _)), arrays in zip(cases, all_inputs)]

    return jax.jit(compute)([inputs for _, (_, inputs) in cases])


def trace(k, function, inputs, floating, value):
    """Kept tensors: the result of a case and its gradients."""
    tensors = [k.variable(x) for x in inputs]
    result = function(k, *tensors)
    kept = [k.keep(result)]
    if is_float(value) and floating:
        weights = k.variable(weights_of(value).astype(value.dtype))
        loss = k.reduce("SUM", k.binary("MULTIPLY", result, weights), range(value.ndim))
        loss = k.call("real", loss) if value.dtype.kind == "c" else loss
        kept += [k.keep(g) for g in k.gradients(loss, [tensors[i] for i in floating])]
        tensors.append(weights)
    return kept, tensors


def check(k, cases):
    """Traces all of these in one step, and says what is wrong with each; the number of values."""
    traced, troubles, values = [], [], 0
    for (name, (function, inputs)), expected in zip(cases, all_of_jax(cases)):
        kept, tensors = trace(k, function, inputs, floating_of(inputs), expected[0])
        traced.append((name, expected, kept, tensors))
    k.end()
    for name, expected, kept, tensors in traced:
        assert len(kept) == len(expected), name
        for place, (tensor, other) in enumerate(zip(kept, expected)):
            what = trouble(k.read(tensor), other, GRADIENT if place else VALUE)
            troubles += [f"{name}, {'gradient' if place else 'value'}: {what}"] if what else []
            values += 1
        for tensor in [*kept, *tensors]:
            k.release(tensor)
    return troubles, values


def check_each(k, cases):
    """The same, one case a step if they cannot run together, so that an error has its name."""
    try:
        return check(k, cases)
    except front.Error as error:
        if len(cases) == 1:
            return [f"{cases[0][0]}: {error}"], 0
    parts = [check_each(k, [case]) for case in cases]
    return [text for troubles, _ in parts for text in troubles], sum(count for _, count in parts)


def fill():
    for some in (add_elementwise, add_casts, add_products, add_shapes, add_layers):
        some()
    arrays.fill(add, floats, integers, DTYPE)
    axes.fill(add, floats, integers, DTYPE)
    complexes.fill(add, floats, integers, DTYPE)


def main():
    library, only = sys.argv[1], sys.argv[2:]
    fill()
    cases = [case for case in CASES.items() if not only or any(part in case[0] for part in only)]
    k = Front(library)
    wrong, values = [], 0
    for first in range(0, len(cases), TOGETHER):
        troubles, count = check_each(k, cases[first : first + TOGETHER])
        wrong += troubles
        values += count
        print("\n".join(troubles), end="\n" if troubles else "")
    programs = k.figures().programs
    print(f"{len(cases)} cases, {values} values and gradients, {len(wrong)} wrong; {programs} programs")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
