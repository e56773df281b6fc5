#!/usr/bin/env python3
"""libkeel on a mesh of four CPU devices beside JAX on the same mesh: values, and which part of a tensor each
device has.

Usage: tests/tensor/mesh_against_jax.py LIBKEEL
"""

import ctypes
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_NUM_CPU_DEVICES"] = "4"

import front
import jax
import jax.numpy as jnp
import numpy
from against_jax import DTYPE, Front, Jax
from front import dtype_of, shape_of
from jax.sharding import Mesh as JaxMesh
from jax.sharding import NamedSharding, PartitionSpec

RNG = numpy.random.default_rng(0)


class Axis(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("size", ctypes.c_int64)]


class Mesh(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int32), ("axes", Axis * 8)]


class Options(ctypes.Structure):
    _fields_ = [("plugin", ctypes.c_char_p), ("name", ctypes.c_char_p), ("mesh", Mesh),
                ("devices", ctypes.c_int32), ("process", ctypes.c_int32), ("processes", ctypes.c_int32),
                ("meet", ctypes.c_char_p)]


class Spec(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int32), ("dims", ctypes.c_char_p * 8)]


def spec_of(axes):
    """(None, ("data", "model")) as keel_spec_t."""
    names = [a if a is None else ",".join([a] if isinstance(a, str) else a).encode() for a in axes]
    return Spec(len(names), (ctypes.c_char_p * 8)(*names))


class MeshFront(Front):
    def __init__(self, library, **sizes):
        axes = [Axis(name.encode(), size) for name, size in sizes.items()]
        options = Options(mesh=Mesh(len(axes), (Axis * 8)(*axes)))
        super().__init__(library, ctypes.byref(options))

    def source(self, kind, name, array, axes):
        array = numpy.array(array, order="C")
        return self.call(f"sharded_{kind}", self.context, name.encode(), dtype_of(array),
                         shape_of(array.shape), array.ctypes.data_as(ctypes.c_void_p), spec_of(axes))

    def shard(self, x, axes):
        return self.call("shard", x, spec_of(axes))


def near(what, ours, theirs, tolerance=1e-5):
    theirs = numpy.asarray(theirs)
    error = numpy.max(numpy.abs(ours - theirs)) / max(numpy.max(numpy.abs(theirs)), 1e-30)
    if ours.shape != theirs.shape or not error <= tolerance:
        sys.exit(f"{what}: {ours.shape} {theirs.shape}, off by {error}")


MESHES = [{"data": 4}, {"data": 2, "model": 2}, {"data": 1, "model": 4}, {"a": 2, "b": 1, "c": 2},
          {"data": 2}]


def specs_of(sizes):
    """Specs of [8,4,16] with each way to use the axes once."""
    names = list(sizes)
    yield ()
    for first in names:
        yield (first,)
        yield (None, None, first)
        for second in names:
            if first != second:
                yield (first, None, second)
                yield (None, first, second)
                yield ((second, first),)
                yield (None, None, (first, second))


def placed(library, sizes):
    """What comes back is what went in, and XLA agrees with our cuts: it computes with them."""
    keel = MeshFront(library, **sizes)
    array = RNG.normal(size=(8, 4, 16)).astype("f4")
    for axes in specs_of(sizes):
        x = keel.source("variable", "x", array, axes)
        near(f"{sizes} {axes}: there and back", keel.read(x), array, 0)
        y = keel.source("input", "y", array, axes)
        turned = keel.call("transpose", keel.binary("ADD", x, y), keel.axes(2, 0, 1))
        back = keel.keep(turned)
        kept = keel.keep(keel.shard(keel.binary("ADD", x, y), axes))
        keel.assign(x, keel.binary("MULTIPLY", x, keel.number(x, 3)))
        keel.end()
        near(f"{sizes} {axes}: of an input", keel.read(back), (2 * array).transpose(2, 0, 1), 1e-6)
        near(f"{sizes} {axes}: kept as it is", keel.read(kept), 2 * array, 1e-6)
        near(f"{sizes} {axes}: assigned", keel.read(x), 3 * array, 1e-6)
        for tensor in (x, back, kept):
            keel.release(tensor)


def trains(library):
    """Ten steps of two layers, data and model parallel, with AdamW: the losses and weights of JAX."""
    sizes, steps = {"data": 2, "model": 2}, 10
    mesh = JaxMesh(numpy.array(jax.devices()).reshape(2, 2), ("data", "model"))
    batches = RNG.normal(size=(steps, 8, 6)).astype("f4")
    weights = [RNG.normal(size=(6, 16)).astype("f4"), RNG.normal(size=(16, 2)).astype("f4")]
    specs = [(None, "model"), ("model", None)]

    def loss_of(w, x):
        hidden = jax.lax.with_sharding_constraint(jnp.tanh(x @ w[0]),
                                                  NamedSharding(mesh, PartitionSpec("data", "model")))
        return jnp.mean((hidden @ w[1]) ** 2)

    @jax.jit
    def step(w, x):
        loss, gradients = jax.value_and_grad(loss_of)(w, x)
        return [a - 0.1 * b for a, b in zip(w, gradients)], loss

    theirs = [jax.device_put(w, NamedSharding(mesh, PartitionSpec(*s))) for w, s in zip(weights, specs)]
    keel = MeshFront(library, **sizes)
    w = [keel.source("variable", f"w{i}", a, s) for i, (a, s) in enumerate(zip(weights, specs))]
    for i in range(steps):
        batch = jax.device_put(batches[i], NamedSharding(mesh, PartitionSpec("data")))
        theirs, loss = step(theirs, batch)
        x = keel.source("input", "x", batches[i], ("data",))
        hidden = keel.shard(keel.unary("TANH", keel.call("matmul", x, w[0])), ("data", "model"))
        y = keel.call("matmul", hidden, w[1])
        ours = keel.call("mean", keel.binary("MULTIPLY", y, y), keel.axes(0, 1))
        gradients = keel.gradients(ours, w)
        for a, g in zip(w, gradients):
            keel.assign(a, keel.binary("SUBTRACT", a, keel.binary("MULTIPLY", g, keel.number(g, 0.1))))
        kept = keel.keep(ours)
        keel.end()
        near(f"loss of step {i}", keel.read(kept), loss)
        keel.release(kept)
    for a, b in zip(w, theirs):
        near("weights", keel.read(a), b, 1e-4)
    if keel.figures().programs != 1:
        sys.exit(f"{keel.figures().programs} programs for one trace")


OPERATIONS = {
    "product": lambda k, x: k.reduce("PRODUCT", x, (1,)),
    "cumulative product": lambda k, x: k.call("cumulate", front.BINARY.index("MULTIPLY"), x, 2),
    "all": lambda k, x: k.call("cast", k.reduce("ALL", k.compare("LESS", x, k.number(x, 2)), (2,)), DTYPE["F32"]),
    "max_pool": lambda k, x: k.pool("MAX", x, (3, 3), {"stride": [1, 2], "before": [1, 1], "after": [1, 0]}),
    "max_pool of equals": lambda k, x: k.pool("MAX", k.unary("ROUND", x), (3, 2), {}),
    "gradient of max_pool": lambda k, x: k.slope(lambda y: k.unary("SIN", k.pool("MAX", y, (3, 3), {"before": [1, 1]})), x),
    "sum_pool": lambda k, x: k.pool("SUM", x, (3, 2), {"stride": [2, 3], "before": [1, 1], "after": [1, 0], "dilation": [1, 2]}),
    "mean_pool": lambda k, x: k.pool("MEAN", x, (2, 3), {"before": [1, 1], "after": [0, 1]}),
    "spectrum": lambda k, x: k.unary("ABS", k.call("rfft", x, 1)),
    "filter": lambda k, x: k.call("irfft", k.binary("MULTIPLY", k.call("rfft", x, 2), k.call("conj", k.call("rfft", x, 2))), 2,
                                  ctypes.c_int64(16)),
}


def operates(library, name, operation):
    """Values and gradients of what is split along each axis are those of one device."""
    array = RNG.normal(size=(8, 4, 16)).astype("f4")
    theirs = jax.jit(jax.value_and_grad(lambda x: jnp.sum(jnp.sin(operation(Jax(), x)))))(array)
    keel = MeshFront(library, data=2, model=2)
    for axes in specs_of({"data": 2, "model": 2}):
        x = keel.source("variable", "x", array, axes)
        y = keel.unary("SIN", operation(keel, x))
        total = keel.reduce("SUM", y, range(keel.c.keel_shape(y).rank))
        kept = [keel.keep(total), keel.keep(keel.gradients(total, [x])[0])]
        keel.end()
        near(f"{name} split {axes}", keel.read(kept[0]), theirs[0], 1e-4)
        near(f"gradient of {name} split {axes}", keel.read(kept[1]), theirs[1], 1e-4)
        for tensor in (x, *kept):
            keel.release(tensor)


def many_at_once(library):
    """A thousand programs with collectives that do not wait for each other, and no read between them."""
    keel = MeshFront(library, data=4)
    x = keel.source("variable", "x", numpy.ones((256, 256), "f4"), ("data",))
    kept = []
    for _ in range(1000):
        product = keel.call("matmul", keel.shard(x, (None, "data")), keel.shard(x, ("data",)))
        kept.append(keel.keep(keel.reduce("SUM", product, (0, 1))))
        keel.end()
    near("the last of a thousand", keel.read(kept[-1]), numpy.float32(256**3))


def main():
    if len(jax.devices()) != 4:
        sys.exit(f"JAX has {len(jax.devices())} devices")
    for sizes in MESHES:
        placed(sys.argv[1], sizes)
    trains(sys.argv[1])
    for name, operation in OPERATIONS.items():
        operates(sys.argv[1], name, operation)
    many_at_once(sys.argv[1])
    print("ok")


if __name__ == "__main__":
    main()
