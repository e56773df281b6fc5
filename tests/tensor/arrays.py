"""Operations on places, scans along an axis and random numbers, as cases of against_jax.py."""

import ctypes

import front
import jax
import jax.numpy as jnp
import numpy

SET, ADD = 0, 1
ASCENDING, DESCENDING = 0, 1


def long(value):
    return ctypes.c_int64(value)


def double(value):
    return ctypes.c_double(value)


class Arrays:
    """The same by JAX: what of against_jax.Jax is about places."""

    CUMULATE = {
        "ADD": jax.lax.cumsum, "MULTIPLY": jax.lax.cumprod, "MAXIMUM": jax.lax.cummax,
        "MINIMUM": jax.lax.cummin,
    }

    def gather(self, x, indices, axis):
        return jnp.take(x, indices, axis=axis, mode="clip")

    def take_along(self, x, indices, axis):
        return jnp.take_along_axis(x, jnp.clip(indices, 0, x.shape[axis] - 1), axis=axis)

    def scatter(self, op, x, indices, values, axis):
        places = (slice(None),) * (axis % x.ndim) + (jnp.clip(indices, 0, x.shape[axis] - 1),)
        return x.at[places].set(values) if op == SET else x.at[places].add(values)

    def put_along(self, op, x, indices, values, axis):
        places = list(jnp.indices(indices.shape))
        places[axis] = jnp.clip(indices, 0, x.shape[axis] - 1)
        places = tuple(places)
        return x.at[places].set(values) if op == SET else x.at[places].add(values)

    def dynamic_slice(self, x, axis, start, size):
        return jax.lax.dynamic_slice_in_dim(x, self.start(x, axis, start), size.value, axis)

    def dynamic_update(self, x, axis, start, values):
        return jax.lax.dynamic_update_slice_in_dim(x, values, self.start(x, axis, start), axis)

    def start(self, x, axis, start):
        """Between the ends, in a dtype that has both."""
        wide = jnp.maximum(start, 0).astype("uint64")
        return jnp.minimum(wide, x.shape[axis]).astype("int64")

    def stride(self, x, axis, start, stop, step):
        return jax.lax.slice_in_dim(x, start.value, stop.value, step.value, axis)

    def reverse(self, x, axes):
        return jnp.flip(x, axes)

    def sort(self, x, axis, order):
        return jnp.sort(x, axis=axis, descending=order == DESCENDING)

    def argsort(self, x, axis, order):
        return jnp.argsort(x, axis=axis, descending=order == DESCENDING).astype("int32")

    def sort_first_by_second(self, x, y):
        return jax.lax.sort((y, x), dimension=0, num_keys=1)[1]

    def top_k(self, x, k, which):
        return jax.lax.top_k(x, k)[which]

    def argmax(self, x, axis):
        return jnp.argmax(x, axis).astype("int32")

    def argmin(self, x, axis):
        return jnp.argmin(x, axis).astype("int32")

    def cumulate(self, op, x, axis):
        return self.CUMULATE[front.BINARY[op]](x, axis % x.ndim)

    def cumlogsumexp(self, x, axis):
        return jax.lax.cumlogsumexp(x, axis % x.ndim)

    def linear_recurrence(self, a, b, reverse):
        def combine(x, y):
            return x[0] * y[0], y[0] * x[1] + y[1]

        return jax.lax.associative_scan(combine, (a, b), reverse=reverse)[1]

    def convolution(self, x, w, options):
        space = x.ndim - 2
        letters = "NC" + "DHW"[:space], "OI" + "DHW"[:space], "NC" + "DHW"[:space]
        get = lambda name, default: list(options.get(name, [])) + [default] * (space - len(options.get(name, [])))  # noqa: E731
        return jax.lax.conv_general_dilated(
            x, w, get("stride", 1), list(zip(get("before", 0), get("after", 0))), get("x_dilation", 1),
            get("dilation", 1), jax.lax.conv_dimension_numbers(x.shape, w.shape, letters),
            feature_group_count=options.get("groups", 1), precision="highest")

    WINDOW = {"SUM": (0, jax.lax.add), "MAX": (-numpy.inf, jax.lax.max), "MIN": (numpy.inf, jax.lax.min)}

    def pool(self, op, x, size, options):
        get = lambda name, default: [default] * (x.ndim - len(size)) + (list(options.get(name, [])) + [default] * len(size))[: len(size)]  # noqa: E731
        full = [1] * (x.ndim - len(size)) + list(size)
        if not size:
            return x

        def reduce(op, x):
            start, function = self.WINDOW[op]
            if x.dtype.kind in "iu" and op != "SUM":
                start = jnp.iinfo(x.dtype).min if op == "MAX" else jnp.iinfo(x.dtype).max
            return jax.lax.reduce_window(x, numpy.asarray(start, x.dtype), function, full, get("stride", 1),
                                         list(zip(get("before", 0), get("after", 0))),
                                         window_dilation=get("dilation", 1))

        if op != "MEAN":
            return reduce(op, x)
        wide = x.astype("float32") if x.dtype.itemsize < 4 else x
        return (reduce("SUM", wide) / reduce("SUM", jnp.ones_like(wide))).astype(x.dtype)

    def einsum(self, text, x, y):
        return jnp.einsum(text, x, y, precision="highest")

    def bitcast(self, x, dtype):
        return jax.lax.bitcast_convert_type(x, front.NUMPY[front.DTYPES[dtype]])

    def is_finite(self, x):
        return jnp.isfinite(x)

    def random(self, name, key, *arguments):
        key = jax.random.wrap_key_data(key)
        if name == "split":
            return jax.random.key_data(jax.random.split(key, arguments[0])[arguments[1]])
        if name == "fold":
            return jax.random.key_data(jax.random.fold_in(key, arguments[0]))
        shape = tuple(arguments[0])
        if name == "bits":
            return jax.random.bits(key, shape, "uint32")
        if name == "uniform":
            return jax.random.uniform(key, shape, "float32", arguments[1], arguments[2])
        if name == "normal":
            return jax.random.normal(key, shape, "float32")
        if name == "bernoulli":
            return jax.random.uniform(key, shape, "float32") < arguments[1]
        if name == "gumbel":
            return jax.random.gumbel(key, shape, "float32")
        return jax.random.randint(key, shape, arguments[1], arguments[2], "int32")


class Convolution(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64 * 6) for name in ("stride", "before", "after", "dilation", "x_dilation")]
    _fields_ += [("groups", ctypes.c_int64)]


class Window(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int32)]
    _fields_ += [(name, ctypes.c_int64 * 8) for name in ("size", "stride", "before", "after", "dilation")]


COMBINE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(front.Tensor),
                           ctypes.POINTER(front.Tensor), ctypes.POINTER(front.Tensor))


class FrontArrays:
    """What takes or gives several tensors."""

    def sort_together(self, tensors, axis=0, order=ASCENDING):
        out, places = (front.Tensor * len(tensors))(), front.Tensor()
        self.c.keel_sort_together_at.restype = None
        self.c.keel_sort_together_at(front.HERE, (front.Tensor * len(tensors))(*tensors),
                                     ctypes.c_size_t(len(tensors)), axis, order, out,
                                     ctypes.byref(places))
        return [*out, places]

    def sort_first_by_second(self, x, y):
        return self.sort_together([y, x])[1]

    def top_k(self, x, k, which):
        out = (front.Tensor * 2)()
        self.c.keel_top_k_at.restype = None
        self.c.keel_top_k_at(front.HERE, x, long(k), ctypes.byref(out, 0),
                             ctypes.byref(out, ctypes.sizeof(front.Tensor)))
        return out[which]

    def linear_recurrence(self, a, b, reverse):
        def combine(user, x, y, out):
            del user
            out[0] = self.binary("MULTIPLY", x[0], y[0])
            out[1] = self.binary("ADD", self.binary("MULTIPLY", y[0], x[1]), y[1])

        out = (front.Tensor * 2)()
        self.c.keel_associative_scan_at.restype = None
        self.c.keel_associative_scan_at(front.HERE, COMBINE(combine), None,
                                        (front.Tensor * 2)(a, b), ctypes.c_size_t(2), 0,
                                        int(reverse), out)
        return out[1]

    def convolution(self, x, w, options):
        given = Convolution(groups=options.get("groups", 0))
        for name, values in options.items():
            if name != "groups":
                getattr(given, name)[: len(values)] = values
        return self.call("convolution", x, w, ctypes.byref(given))

    def pool(self, op, x, size, options):
        given = Window(count=len(size))
        for name, values in {"size": size, **options}.items():
            getattr(given, name)[: len(values)] = values
        if op == "MEAN":
            return self.call("mean_pool", x, ctypes.byref(given))
        return self.call("reduce_window", front.REDUCE.index(op), x, ctypes.byref(given))

    def einsum(self, text, x, y):
        return self.call("einsum", text.encode(), x, y)

    def random(self, name, key, *arguments):
        if name == "split":
            out = (front.Tensor * arguments[0])()
            self.c.keel_random_split_at.restype = None
            self.c.keel_random_split_at(front.HERE, key, ctypes.c_size_t(arguments[0]), out)
            return out[arguments[1]]
        if name in ("bits", "normal", "gumbel"):
            return self.call(f"random_{name}", key, front.shape_of(arguments[0]))
        if name == "uniform":
            return self.call("random_uniform", key, front.shape_of(arguments[0]),
                             double(arguments[1]), double(arguments[2]))
        if name == "integers":
            return self.call("random_integers", key, front.shape_of(arguments[0]), *arguments[1:])
        if name == "bernoulli":
            return self.call("random_bernoulli", key, front.shape_of(arguments[0]), arguments[1])
        return self.call("random_fold", key, arguments[0])


def add_places(add, floats, integers):
    for shape, indices, axis in [((5, 3), (4,), 0), ((2, 5, 3), (4, 2), 1), ((2, 5), (), -1),
                                 ((4,), (2, 2), 0), ((5, 3), (0,), 1)]:
        size = shape[axis]
        add(f"gather {shape} {indices} {axis}", lambda k, x, i, a=axis: k.call("gather", x, i, a),
            floats(*shape), integers(*indices, low=-1, high=size + 1))
    for shape, count, axis in [((5, 3), 2, 0), ((2, 3, 6), 6, -1), ((2, 3, 4), 5, 1), ((4,), 3, 0)]:
        indices = list(shape)
        indices[axis] = count
        i = integers(*indices, low=-1, high=shape[axis] + 1)
        add(f"take_along {shape} {axis}", lambda k, x, i, a=axis: k.call("take_along", x, i, a),
            floats(*shape), i)
        add(f"put_along add {shape} {axis}",
            lambda k, x, i, v, a=axis: k.call("put_along", ADD, x, i, v, a), floats(*shape), i,
            floats(*indices))
    distinct = numpy.array([[3, 0], [1, 2], [0, 3]], "int64")
    add("put_along set", lambda k, x, i, v: k.call("put_along", SET, x, i, v, 1), floats(3, 4),
        distinct, floats(3, 2))
    add("put_along set one value", lambda k, x, i, v: k.call("put_along", SET, x, i, v, 1),
        integers(3, 4), distinct, integers(1, 1))
    for axis in (0, 1, -1):
        shape, values = (4, 5, 3), [4, 5, 3]
        values[axis] = 2
        add(f"scatter set {axis}", lambda k, x, i, v, a=axis: k.call("scatter", SET, x, i, v, a),
            floats(*shape), numpy.array([2, 0], "int32"), floats(*values))
        add(f"scatter add {axis}", lambda k, x, i, v, a=axis: k.call("scatter", ADD, x, i, v, a),
            floats(*shape), numpy.array([1, 1], "int32"), floats(*values))
    add("scatter uint8", lambda k, x, i, v: k.call("scatter", ADD, x, i, v, 0),
        integers(4, low=0, high=9, dtype="uint8"), numpy.array([3, 3, 9], "uint8"),
        integers(3, low=0, high=9, dtype="uint8"))
    for start in (-3, 0, 1, 4):
        for axis, size in [(0, 2), (1, 3), (-1, 1), (1, 0)]:
            add(f"dynamic_slice {start} {axis} {size}",
                lambda k, x, s, a=axis, n=size: k.call("dynamic_slice", x, a, s, long(n)),
                floats(4, 5, 3), numpy.array(start, "int32"))
            values = [4, 5, 3]
            values[axis] = size
            add(f"dynamic_update {start} {axis} {size}",
                lambda k, x, s, v, a=axis: k.call("dynamic_update", x, a, s, v), floats(4, 5, 3),
                numpy.array(start, "int64"), floats(*values))
    for dtype, start in [("int8", 127), ("uint8", 200), ("int16", 32767), ("uint32", 2**32 - 1), ("uint64", 2**64 - 1)]:
        size = 40000 if dtype == "int16" else 300
        add(f"dynamic_slice {dtype} {start}", lambda k, x, s: k.call("dynamic_slice", x, 0, s, long(3)),
            floats(size), numpy.array(start, dtype))
        add(f"dynamic_update {dtype} {start}", lambda k, x, s, v: k.call("dynamic_update", x, 0, s, v),
            floats(size), numpy.array(start, dtype), floats(3))
    for axis, start, stop, step in [(0, 0, 5, 2), (1, 1, 6, 3), (-1, 2, 2, 2), (0, 1, 2, 4), (1, 0, 6, 1)]:
        add(f"stride {axis} {start} {stop} {step}",
            lambda k, x, a=axis, b=start, e=stop, s=step: k.call("stride", x, a, long(b), long(e), long(s)),
            floats(5, 6))
    add("stride by more than there is", lambda k, x: k.call("stride", x, 0, long(1), long(4), long(7)), floats(5, 2))
    for axes in [(0,), (-1,), (0, 2), ()]:
        add(f"reverse {axes}", lambda k, x, a=axes: k.call("reverse", x, k.axes(*a)), floats(2, 3, 4))


def add_order(add, floats, integers):
    special = numpy.array([1, -0.0, numpy.nan, 0.0, -numpy.inf, numpy.inf, -2, 1], "float32")
    for order in (ASCENDING, DESCENDING):
        for axis in (0, 1, -1):
            add(f"sort {axis} {order}", lambda k, x, a=axis, o=order: k.call("sort", x, a, o), floats(4, 5, 3))
            add(f"argsort {axis} {order}", lambda k, x, a=axis, o=order: k.call("argsort", x, a, o),
                integers(4, 5, 3, low=0, high=3))
        for dtype in ("bfloat16", "float16", "float64", "int8", "uint32", "bool"):
            add(f"sort {dtype} {order}", lambda k, x, o=order: k.call("argsort", x, 0, o),
                integers(9, low=0, high=5).astype(dtype))
        add(f"argsort of what is special {order}", lambda k, x, o=order: k.call("argsort", x, 0, o), special)
    add("sort nothing", lambda k, x: k.call("sort", x, 0, ASCENDING), floats(0, 3))
    add("sort together", lambda k, x, y: k.sort_first_by_second(x, y), floats(6), floats(6))
    for k_ in (0, 1, 3, 6):
        add(f"top_k {k_}", lambda k, x, n=k_: k.top_k(x, n, 0), floats(2, 6))
        add(f"top_k indices {k_}", lambda k, x, n=k_: k.top_k(x, n, 1), integers(2, 6, low=0, high=3))
    for name in ("argmax", "argmin"):
        for axis in (0, -1):
            add(f"{name} {axis}", lambda k, x, n=name, a=axis: k.call(n, x, a), integers(4, 5, low=0, high=3))
        add(f"{name} of what is special", lambda k, x, n=name: k.call(n, x, 0), special)
        add(f"{name} of NaN behind", lambda k, x, n=name: k.call(n, x, 0), special[::-1].copy())
        add(f"{name} bool", lambda k, x, n=name: k.call(n, x, 0), integers(7, low=0, high=2).astype("bool"))


def add_scans(add, floats, integers):
    for op in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
        code = front.BINARY.index(op)
        for size in (1, 2, 3, 7, 8):
            add(f"cumulate {op} {size}", lambda k, x, c=code: k.call("cumulate", c, x, 1), floats(2, size))
        add(f"cumulate {op} of NaN", lambda k, x, c=code: k.call("stop_gradient", k.call("cumulate", c, x, 0)),
            numpy.array([1, -1, numpy.nan, 3, -3], "float32"))
        add(f"cumulate {op} int32", lambda k, x, c=code: k.call("cumulate", c, x, -2), integers(5, 2))
        for dtype in ("float64", "bfloat16", "float16", "int8", "uint32"):
            add(f"cumulate {op} {dtype}", lambda k, x, c=code: k.call("cumulate", c, x, 0), integers(4, low=1, high=3).astype(dtype))
        for shape in [(0,), (2, 0), (1,) * 8]:
            add(f"cumulate {op} {shape}", lambda k, x, c=code: k.call("cumulate", c, x, -1), floats(*shape))
        with_zeros = numpy.array([[2, 0, 3, 0.5, 0, -1]], "float32")
        add(f"cumulate {op} of zeros", lambda k, x, c=code: k.call("cumulate", c, x, 1), with_zeros)
    for dtype in ("float32", "float64", "bfloat16", "float16"):
        for size in (0, 1, 2, 7):
            add(f"cumlogsumexp {dtype} {size}", lambda k, x: k.call("cumlogsumexp", x, -1), floats(2, size, dtype=dtype))
    far = numpy.array([[-numpy.inf, -numpy.inf, 2, 2, -numpy.inf, 300], [1000, 1000, 5, numpy.inf, 1, 2]], "float32")
    add("cumlogsumexp of what is infinite", lambda k, x: k.call("cumlogsumexp", k.call("stop_gradient", x), 1), far)
    add("cumlogsumexp far apart", lambda k, x: k.call("cumlogsumexp", x, 1), numpy.array([[1000, 1000, 5, -3000, 1001]], "float32"))
    for reverse in (False, True):
        add(f"linear recurrence {reverse}", lambda k, a, b, r=reverse: k.linear_recurrence(a, b, r),
            floats(6, 2), floats(6, 2))


def add_bits(add, floats, integers, dtypes):
    add("bitcast", lambda k, x: k.call("bitcast", x, dtypes["U32"]), floats(5))
    add("bitcast bfloat16", lambda k, x: k.call("bitcast", x, dtypes["I16"]), floats(5, dtype="bfloat16"))
    add("is_finite", lambda k, x: k.call("is_finite", x),
        numpy.array([1, numpy.inf, -numpy.inf, numpy.nan], "float32"))
    for op in ("SHIFT_LEFT", "SHIFT_RIGHT"):
        for dtype in ("uint32", "int32", "uint8"):
            add(f"{op} {dtype}", lambda k, x, y, o=op: k.binary(o, x, y),
                integers(6, low=0, high=100).astype(dtype), integers(6, low=0, high=40).astype(dtype))
    key = numpy.array([17, 4000000000], "uint32")
    for shape in [(7,), (3, 5), (), (0, 2)]:
        add(f"random bits {shape}", lambda k, x, s=shape: k.random("bits", x, s), key)
        add(f"random uniform {shape}", lambda k, x, s=shape: k.random("uniform", x, s, -1.5, 4.0), key)
        add(f"random integers {shape}", lambda k, x, s=shape: k.random("integers", x, s, -7, 900), key)
    for low, high in [(-2**31, 2**31 - 1), (-2**31, 0), (-2**31, 1), (0, 2**31 - 1), (0, 2**16), (-5, 2**16), (7, 8), (0, 3)]:
        add(f"random integers of [{low}, {high})", lambda k, x, b=(low, high): k.random("integers", x, (40,), *b), key)
    add("random normal", lambda k, x: k.random("normal", x, (1000,)), key)
    add("random bernoulli", lambda k, x, p: k.random("bernoulli", x, (50,), p), key, numpy.array(0.3, "float32"))
    for which in range(3):
        add(f"random split {which}", lambda k, x, w=which: k.random("split", x, 3, w), key)
    for number in (0, 5, 2**31 - 1):
        add(f"random fold {number}", lambda k, x, n: k.random("fold", x, n), key, numpy.array(number, "int32"))


def add_products(add, floats):
    for x, w, options in [
        ((2, 3, 8), (4, 3, 3), {}),
        ((2, 3, 8), (4, 3, 3), {"stride": [2], "before": [1], "after": [2]}),
        ((2, 3, 9), (4, 3, 3), {"stride": [3]}),
        ((1, 4, 6, 7), (6, 2, 3, 2), {"groups": 2, "before": [1, 0], "after": [1, 1]}),
        ((2, 4, 6, 7), (4, 1, 3, 3), {"groups": 4, "stride": [2, 1], "dilation": [1, 2], "before": [2, 2], "after": [1, 2]}),
        ((2, 3, 5, 4), (2, 3, 2, 3), {"x_dilation": [2, 3], "before": [1, 2], "after": [1, 0]}),
        ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), {"stride": [1, 2, 2]}),
        ((2, 3, 8), (4, 3, 3), {"before": [-1], "after": [-2]}),
        ((2, 2, 7), (2, 2, 2), {"before": [3], "after": [-1]}),
        ((2, 2, 5), (2, 2, 2), {"before": [-2], "after": [2]}),
        ((2, 2, 5), (2, 2, 2), {"before": [-6], "after": [4]}),
        ((2, 2, 4, 5), (2, 2, 3, 2), {"before": [4, -1], "after": [-2, 3], "x_dilation": [1, 2]}),
        ((2, 3, 2), (4, 3, 5), {}),
        ((0, 3, 8), (4, 3, 3), {}),
    ]:
        add(f"convolution {x} {w} {options}", lambda k, x, w, o=options: k.convolution(x, w, o), floats(*x), floats(*w))
    add("convolution bfloat16", lambda k, x, w: k.convolution(x, w, {}), floats(2, 3, 8, dtype="bfloat16"),
        floats(4, 3, 3, dtype="bfloat16"))
    for text, x, y in [("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ij,kj->ki", (2, 3), (4, 3)),
                       ("abc,cd->bd", (2, 3, 4), (4, 5)), ("i,j->ji", (2,), (3,)), ("i,i->", (4,), (4,)),
                       ("bthd,bshd->bhts", (2, 3, 2, 4), (2, 5, 2, 4)), ("ij,ij->ij", (2, 3), (2, 3)),
                       ("ab,c->", (2, 3), (4,)), (",->", (), ()), ("ba,Ab->aA", (2, 3), (4, 2))]:
        add(f"einsum {text}", lambda k, x, y, t=text: k.einsum(t, x, y), floats(*x), floats(*y))


def add_windows(add, floats, integers):
    forms = [
        ((2, 3, 8), (3,), {}),
        ((2, 3, 8), (3,), {"stride": [2], "before": [1], "after": [2]}),
        ((7,), (2,), {"stride": [3]}),
        ((2, 3, 6, 7), (2, 3), {"stride": [2, 3]}),
        ((2, 3, 6, 7), (3, 2), {"before": [1, 1], "after": [2, 0]}),
        ((2, 9, 3), (4, 1), {"stride": [2, 2], "after": [3, 0]}),
        ((3, 4), (5, 2), {}),
        ((3, 4), (1, 1), {"stride": [2, 3], "before": [1, 0], "after": [0, 2]}),
        ((3, 4), (1,), {"stride": [2]}),
        ((3, 4), (3, 4), {}),
        ((2, 0, 4), (1, 2), {}),
        ((4,), (), {}),
        ((), (), {}),
        ((1, 2, 1, 3, 1, 2, 2, 3), (1, 2, 1, 2, 1, 2, 1, 2), {"after": [0, 1]}),
    ]
    for op in ("SUM", "MAX", "MIN", "MEAN"):
        for x, size, options in forms:
            add(f"pool {op} {x} {size} {options}", lambda k, x, p=op, s=size, o=options: k.pool(p, x, s, o), floats(*x))
        for dtype in ("float64", "float16", "bfloat16"):
            add(f"pool {op} {dtype}", lambda k, x, p=op: k.pool(p, x, (2, 2), {"stride": [1, 2], "before": [1, 0]}),
                floats(2, 5, 6).astype(dtype))
        for dtype in () if op == "MEAN" else ("int32", "int8", "uint8", "int64", "uint32"):
            add(f"pool {op} {dtype}", lambda k, x, p=op: k.pool(p, x, (3,), {"before": [1], "after": [1]}),
                integers(2, 5, low=0).astype(dtype))
        # Gradients of gradients.
        add(f"pool {op} twice", lambda k, x, p=op: k.slope(lambda y: k.unary("SIN", k.pool(p, y, (2, 3), {"before": [1, 0]})), x),
            floats(4, 5))
        add(f"pool {op} three times",
            lambda k, x, p=op: k.slope(lambda z: k.slope(lambda y: k.unary("SIN", k.pool(p, y, (3,), {"stride": [2]})), z), x),
            floats(7))
    for op in ("SUM", "MEAN"):
        for x, size, options in [((8,), (3,), {"dilation": [2]}), ((2, 6, 7), (2, 3), {"dilation": [3, 2], "stride": [1, 2], "before": [2, 1]})]:
            add(f"pool {op} {x} {size} {options}", lambda k, x, p=op, s=size, o=options: k.pool(p, x, s, o), floats(*x))
    for op in ("MAX", "MIN"):
        add(f"pool {op} of equals", lambda k, x, p=op: k.pool(p, x, (3,), {"before": [1], "after": [1]}),
            numpy.array([1, 1, 1, 2, 2, 0, 0, 0], "float32"))
        add(f"pool {op} with dilation", lambda k, x, p=op: k.pool(p, k.call("stop_gradient", x), (2, 3), {"dilation": [2, 2]}),
            floats(5, 7))


def fill(add, floats, integers, dtypes):
    add_products(add, floats)
    add_windows(add, floats, integers)
    add_places(add, floats, integers)
    add_order(add, floats, integers)
    add_scans(add, floats, integers)
    add_bits(add, floats, integers, dtypes)
