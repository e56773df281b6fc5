"""Complex numbers and Fourier transforms, as cases of against_jax.py."""

import ctypes

import front
import jax.numpy as jnp
import numpy

COMPLEX = {"complex64": "float32", "complex128": "float64"}


class Complexes:
    """The same by JAX."""

    def complex(self, real, imaginary):
        return real + 1j * imaginary

    def real(self, x):
        return jnp.real(x)

    def imag(self, x):
        return jnp.imag(x)

    def angle(self, x):
        return jnp.angle(x)

    def conj(self, x):
        return jnp.conj(x)

    def fft(self, x, rank):
        return jnp.fft.fftn(x, axes=range(-rank, 0))

    def ifft(self, x, rank):
        return jnp.fft.ifftn(x, axes=range(-rank, 0))

    def rfft(self, x, rank):
        return jnp.fft.rfftn(x, axes=range(-rank, 0))

    def irfft(self, x, rank, size):
        return jnp.fft.irfftn(x, [*x.shape[-rank:-1], size.value], axes=range(-rank, 0))


def fill(add, floats, integers, dtypes):
    def numbers(*shape, dtype="complex64"):
        return (floats(*shape) + 1j * floats(*shape)).astype(dtype)

    def one(name, function, *inputs):
        add(f"{name} {inputs[0].dtype}{list(inputs[0].shape)}", function, *inputs)

    for dtype, real in COMPLEX.items():
        for shape in [(), (3,), (2, 0, 3), (2, 3, 4), (1,) * 8]:
            for op in ("NEGATE", "ABS", "EXP", "LOG", "SQRT", "SIN", "COS", "TANH"):
                one(f"complex {op}", lambda k, x, o=op: k.unary(o, x), numbers(*shape, dtype=dtype))
            for name in ("real", "imag", "angle", "conj"):
                one(name, lambda k, x, n=name: k.call(n, x), numbers(*shape, dtype=dtype))
            one("complex", lambda k, x, y: k.call("complex", x, y), floats(*shape, dtype=real), floats(*shape, dtype=real))
        for x, y in [((3,), (3,)), ((), (2, 3)), ((2, 1, 4), (3, 1)), ((1,), (0,))]:
            for op in ("ADD", "SUBTRACT", "MULTIPLY", "DIVIDE"):
                add(f"complex {op} {dtype} {x} {y}", lambda k, x, y, o=op: k.binary(o, x, y), numbers(*x, dtype=dtype), numbers(*y, dtype=dtype))
        add(f"complex of broadcast {dtype}", lambda k, x, y: k.call("complex", x, y), floats(2, 1, dtype=real), floats(3, dtype=real))
        for op in ("EQUAL", "NOT_EQUAL"):
            add(f"complex {op} {dtype}", lambda k, x, y, o=op: k.compare(o, x, y), numpy.array([1, 1j, 1 + 1j, 0], dtype),
                numpy.array([1, 1, 1 - 1j, 0], dtype))
        for op in ("SUM", "PRODUCT"):
            for axes in [(0,), (0, 2), ()]:
                add(f"complex {op} {dtype} {axes}", lambda k, x, o=op, a=axes: k.reduce(o, x, a), numbers(2, 3, 2, dtype=dtype))
        add(f"complex mean {dtype}", lambda k, x: k.call("mean", x, k.axes(1)), numbers(2, 3, dtype=dtype))
        for op in ("ADD", "MULTIPLY"):
            add(f"complex cumulate {op} {dtype}", lambda k, x, c=front.BINARY.index(op): k.call("cumulate", c, x, 0), numbers(5, dtype=dtype))
        add(f"complex matmul {dtype}", lambda k, x, y: k.call("matmul", x, y), numbers(2, 3, 4, dtype=dtype), numbers(4, 5, dtype=dtype))
        add(f"complex einsum {dtype}", lambda k, x, y: k.einsum("bij,bkj->ik", x, y), numbers(2, 3, 4, dtype=dtype), numbers(2, 5, 4, dtype=dtype))
        for source in ("float32", "float64", "bfloat16", "int32", "uint8", "bool", *COMPLEX):
            target = dtypes["C64" if dtype == "complex64" else "C128"]
            values = numbers(4, dtype=source) if source in COMPLEX else integers(4, low=0).astype(source)
            add(f"cast {source} {dtype}", lambda k, x, t=target: k.call("cast", x, t), values)
        add(f"complex number {dtype}", lambda k, x: k.binary("MULTIPLY", x, k.number(x, 0.3)), numbers(2, 3, dtype=dtype))
        add(f"complex constant {dtype}", lambda k, x: k.binary("ADD", x, k.call("constant", x, ctypes.c_double(0.3))), numbers(3, dtype=dtype))
        add(f"complex select {dtype}", lambda k, x, y: k.call("select", k.compare("LESS", k.call("real", x), k.call("imag", y)), x, y),
            numbers(2, 3, dtype=dtype), numbers(3, dtype=dtype))
        add(f"complex gather {dtype}", lambda k, x, i: k.call("gather", x, i, 0), numbers(4, 3, dtype=dtype), numpy.array([2, 2, 0], "int32"))
        add(f"complex dynamic_slice {dtype}", lambda k, x, i: k.call("dynamic_slice", x, 0, i, ctypes.c_int64(2)), numbers(4, 3, dtype=dtype),
            numpy.array(1, "int32"))
        add(f"complex shapes {dtype}",
            lambda k, x: k.call("concatenate", k.call("transpose", x, k.axes(1, 0)), k.call("reverse", k.call("reshape", x, k.axes(3, 2)), k.axes(0)), 1),
            numbers(2, 3, dtype=dtype))
        add(f"complex abs at 0 {dtype}", lambda k, x: k.unary("ABS", x), numpy.array([0, 3 + 4j], dtype))
        for rank, shapes in {1: [(8,), (1,), (2, 7), (0, 4)], 2: [(4, 6), (2, 3, 5)], 3: [(2, 3, 4), (1, 1, 1, 1, 1, 2, 3, 2)]}.items():
            for shape in shapes:
                for name in ("fft", "ifft"):
                    add(f"{name} {dtype} {shape} {rank}", lambda k, x, n=name, r=rank: k.call(n, x, r), numbers(*shape, dtype=dtype))
                add(f"rfft {dtype} {shape} {rank}", lambda k, x, r=rank: k.call("rfft", x, r), floats(*shape, dtype=real))
                half = (*shape[:-1], shape[-1] // 2 + 1)
                add(f"irfft {dtype} {shape} {rank}", lambda k, x, r=rank, s=shape[-1]: k.call("irfft", x, r, ctypes.c_int64(s)),
                    numbers(*half, dtype=dtype))
    add("promote c64 c128", lambda k, x, y: k.binary("ADD", x, y), numbers(3), numbers(3, dtype="complex128"))
    add("convolution by fft",
        lambda k, x, y: k.call("irfft", k.binary("MULTIPLY", k.call("rfft", x, 1), k.call("rfft", y, 1)), 1, ctypes.c_int64(9)),
        floats(2, 9), floats(9))
    add("power twice", lambda k, x: k.slope(lambda y: k.unary("SIN", k.unary("ABS", k.call("rfft", y, 1))), x), floats(6))
