"""libkeel's tensors from Python, so that tests can hold them against JAX."""

import ctypes
import pathlib
import re

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / "include" / "keel" / "tensor.h").read_text()


def table(name):
    """The first entries of the header's table, in order."""
    body = re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", HEADER)[1]
    return re.findall(r"X\((\w+)", body)


DTYPES = table("KEEL_DTYPES")
UNARY, BINARY = table("KEEL_UNARY_OPS"), table("KEEL_BINARY_OPS")
COMPARE, REDUCE = table("KEEL_COMPARE_OPS"), table("KEEL_REDUCE_OPS")
NUMPY = {
    "BOOL": "bool", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U8": "uint8",
    "U16": "uint16", "U32": "uint32", "U64": "uint64", "F8E4M3FN": "float8_e4m3fn",
    "F8E5M2": "float8_e5m2", "BF16": "bfloat16", "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64", "C128": "complex128",
}


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int32), ("dims", ctypes.c_int64 * 8)]


class Caller(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("function", ctypes.c_char_p), ("line", ctypes.c_int),
                ("operation", ctypes.c_char_p)]


class Tensor(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("id", ctypes.c_uint32), ("step", ctypes.c_uint32)]


class Figures(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("steps", "programs", "operations", "reads")]


HERE = Caller(b"front.py", b"case", 1)


def dtype_of(array):
    import ml_dtypes  # registers the small floats

    del ml_dtypes
    return [NUMPY[d] for d in DTYPES].index(str(array.dtype))


def shape_of(dims):
    return Shape(len(dims), (ctypes.c_int64 * 8)(*dims))


class Error(Exception):
    pass


class Front:
    """One context. What takes tensors returns tensors; errors are raised by end() and read()."""

    def __init__(self, library, options=None):
        self.c = ctypes.CDLL(str(library))
        self.c.keel_status_message.restype = ctypes.c_char_p
        self.c.keel_status_message.argtypes = [ctypes.c_void_p]
        self.c.keel_status_ignore.argtypes = [ctypes.c_void_p]
        self.c.keel_shape.restype = Shape
        self.c.keel_context_figures.restype = Figures
        self.context = ctypes.c_void_p()
        self.check(self.c.keel_context_create, options, ctypes.byref(self.context))

    def check(self, function, *arguments):
        function.restype = ctypes.c_void_p
        status = function(*arguments)
        if status:
            text = self.c.keel_status_message(status).decode()
            self.c.keel_status_ignore(status)
            raise Error(text)

    def call(self, name, *arguments):
        function = getattr(self.c, f"keel_{name}_at")
        function.restype = Tensor
        return function(HERE, *arguments)

    def variable(self, array, name=b"x"):
        array = numpy.array(array, order="C")
        return self.call("variable", self.context, name, dtype_of(array), shape_of(array.shape),
                         array.ctypes.data_as(ctypes.c_void_p))

    def unary(self, op, x):
        return self.call("unary", UNARY.index(op), x)

    def binary(self, op, x, y):
        return self.call("binary", BINARY.index(op), x, y)

    def compare(self, op, x, y):
        return self.call("compare", COMPARE.index(op), x, y)

    def reduce(self, op, x, axes):
        return self.call("reduce", REDUCE.index(op), x, shape_of(axes))

    def axes(self, *axes):
        return shape_of(axes)  # the same layout

    def number(self, like, value):
        return self.call("number", like, ctypes.c_double(value), b"value")

    def gradients(self, loss, tensors):
        out = (Tensor * len(tensors))()
        self.c.keel_gradients_at.restype = None
        self.c.keel_gradients_at(HERE, loss, (Tensor * len(tensors))(*tensors),
                                 ctypes.c_size_t(len(tensors)), out)
        return list(out)

    def slope(self, function, x):
        """The gradient of the sum of the result."""
        value = function(x)
        loss = self.reduce("SUM", value, range(self.c.keel_shape(value).rank))
        return self.gradients(loss, [x])[0]

    def assign(self, variable, value):
        self.c.keel_assign_at.restype = None
        self.c.keel_assign_at(HERE, variable, value)

    def keep(self, value):
        return self.call("keep", value)

    def end(self):
        self.check(self.c.keel_step_end_at, HERE, self.context)

    def read(self, tensor):
        self.c.keel_dtype.restype = ctypes.c_int
        shape = self.c.keel_shape(tensor)
        array = numpy.empty(shape.dims[: shape.rank], NUMPY[DTYPES[self.c.keel_dtype(tensor)]])
        self.check(self.c.keel_read_at, HERE, tensor, array.ctypes.data_as(ctypes.c_void_p),
                   ctypes.c_size_t(array.nbytes))
        return array

    def release(self, tensor):
        self.c.keel_release.restype = None
        self.c.keel_release(tensor)

    def figures(self):
        return self.c.keel_context_figures(self.context)
