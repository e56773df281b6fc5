#!/usr/bin/env python3
"""What one device of a mesh does by itself, and collectives, beside jax.shard_map on the same mesh: values and
gradients.

Usage: tests/tensor/parts_against_jax.py LIBKEEL
"""

import ctypes
import sys

from mesh_against_jax import RNG, MeshFront, near, spec_of  # sets JAX up

import jax
import jax.numpy as jnp
import numpy
from front import REDUCE
from jax.sharding import Mesh, PartitionSpec

SIZES = {"data": 2, "model": 2}


class Parts(MeshFront):
    """The same names as Theirs has."""

    def local(self, x, axes):
        return self.call("local", x, spec_of(axes))

    def join(self, x, axes):
        return self.call("global", x, spec_of(axes))

    def psum(self, x, axes):
        return self.call("all_reduce", x, REDUCE.index("SUM"), axes.encode())

    def pmax(self, x, axes):
        return self.call("all_reduce", x, REDUCE.index("MAX"), axes.encode())

    def gather(self, x, axis, axes):
        return self.call("all_gather", x, axis, axes.encode())

    def scatter(self, x, axis, axes):
        return self.call("reduce_scatter", x, axis, axes.encode())

    def exchange(self, x, split, join, axes):
        return self.call("all_to_all", x, split, join, axes.encode())

    def shift(self, x, by, axes):
        return self.call("permute", x, ctypes.c_int64(by), axes.encode())

    def tanh(self, x):
        return self.unary("TANH", x)

    def multiply(self, x, y):
        return self.binary("MULTIPLY", x, y)

    def add(self, x, y):
        return self.binary("ADD", x, y)

    def matmul(self, x, y):
        return self.call("matmul", x, y)

    def scale(self, x, value):
        return self.multiply(x, self.number(x, value))

    def total(self, x):
        return self.reduce("SUM", x, range(self.c.keel_shape(x).rank))


def names(axes):
    return tuple(axes.split(","))


class Theirs:
    psum = staticmethod(lambda x, axes: jax.lax.psum(x, names(axes)))
    gather = staticmethod(lambda x, axis, axes: jax.lax.all_gather(x, names(axes), axis=axis, tiled=True))
    scatter = staticmethod(lambda x, axis, axes: jax.lax.psum_scatter(
        x, names(axes), scatter_dimension=axis, tiled=True))
    exchange = staticmethod(lambda x, split, join, axes: jax.lax.all_to_all(
        x, names(axes), split, join, tiled=True))
    tanh, multiply, add, matmul = jnp.tanh, jnp.multiply, jnp.add, jnp.matmul
    scale = staticmethod(lambda x, value: x * value)
    total = staticmethod(jnp.sum)

    @staticmethod
    def shift(x, by, axes):
        count = jax.lax.psum(1, names(axes))
        return jax.lax.ppermute(x, names(axes), [(i, (i + by) % count) for i in range(count)])

    @staticmethod
    def pmax(x, axes):  # has a gradient, as jax.lax.pmax has not
        every = jax.lax.all_gather(x, names(axes))
        return jnp.max(every, axis=0)


# name, specs of the two arguments [8,16] and [16,8], spec of the result, body
BODIES = [
    ("alone", ("data", "model"), ("model",), ("data", "model"), lambda f, x, y: f.tanh(f.scale(x, 0.5))),
    ("sum", ("data", "model"), ("model",), ("data",),
     lambda f, x, y: f.psum(f.matmul(f.tanh(x), y), "model")),
    ("sum over all", ("data", "model"), (), (), lambda f, x, y: f.psum(f.total(f.tanh(x)), "data,model")),
    ("max", ("data", "model"), (), (None, "model"), lambda f, x, y: f.pmax(f.tanh(x), "data")),
    ("gather rows", ("data",), (), (), lambda f, x, y: f.gather(f.tanh(x), 0, "data")),
    ("gather columns", ("data", "model"), (None, "model"), ("data", "model"),
     lambda f, x, y: f.matmul(f.gather(f.tanh(x), 1, "model"), y)),
    ("gather over both", (("model", "data"),), (), (),
     lambda f, x, y: f.gather(f.tanh(x), 0, "model,data")),
    ("scatter", (None, "model"), ("model",), ("model",),
     lambda f, x, y: f.scatter(f.tanh(f.matmul(x, y)), 0, "model")),
    ("scatter over both", (None, ("data", "model")), (("data", "model"),), (None, ("data", "model")),
     lambda f, x, y: f.scatter(f.tanh(f.matmul(x, y)), 1, "data,model")),
    ("exchange", ("data",), (), (None, "data"), lambda f, x, y: f.exchange(f.tanh(x), 1, 0, "data")),
    ("exchange back", (None, "model"), (), ("model",), lambda f, x, y: f.exchange(f.tanh(x), 0, 1, "model")),
    ("exchange in place", ("model",), (), ("model",), lambda f, x, y: f.exchange(f.tanh(x), 0, 0, "model")),
    ("exchange over both", (("data", "model"),), (), (None, ("data", "model")),
     lambda f, x, y: f.exchange(f.tanh(x), 1, 0, "data,model")),
    ("shift", ("data", "model"), (), ("data", "model"), lambda f, x, y: f.shift(f.tanh(x), 1, "model")),
    ("shift back over both", (("data", "model"),), (), (("data", "model"),),
     lambda f, x, y: f.add(f.shift(f.tanh(x), -1, "data,model"), x)),
    ("two whole", (), (), (), lambda f, x, y: f.matmul(f.tanh(x), y)),
]


def compare(keel, mesh, name, in_x, in_y, out, body):
    x, y = RNG.normal(size=(8, 16)).astype("f4"), RNG.normal(size=(16, 8)).astype("f4")
    specs = PartitionSpec(*in_x), PartitionSpec(*in_y)
    mapped = jax.shard_map(lambda a, b: body(Theirs, a, b), mesh=mesh, in_specs=specs,
                           out_specs=PartitionSpec(*out), check_vma=False)
    theirs = jax.jit(mapped)(x, y)
    weights = RNG.normal(size=theirs.shape).astype("f4")
    slopes = jax.jit(jax.grad(lambda a, b: jnp.sum(mapped(a, b) * weights), (0, 1)))(x, y)
    a, b, w = keel.variable(x), keel.variable(y), keel.variable(weights)
    ours = keel.join(body(keel, keel.local(a, in_x), keel.local(b, in_y)), out)
    loss = keel.total(keel.multiply(ours, w))
    kept = [keel.keep(ours), *map(keel.keep, keel.gradients(loss, [a, b]))]
    keel.end()
    near(name, keel.read(kept[0]), theirs)
    for what, tensor, slope in zip("xy", kept[1:], slopes):
        near(f"{name}: d{what}", keel.read(tensor), slope, 1e-4)


def mixes(keel):
    """What is not part is whole on each device; numbers and constants are too."""
    x = RNG.normal(size=(8, 16)).astype("f4")
    a, bias = keel.variable(x), keel.variable(x[0])
    part = keel.local(a, ("data",))
    moved = keel.add(keel.multiply(part, keel.call("constant", part, ctypes.c_double(3))), bias)
    kept = keel.keep(keel.join(keel.scale(moved, 0.5), ("data",)))
    loss = keel.total(keel.join(moved, ("data",)))
    slope = keel.keep(keel.gradients(loss, [bias])[0])
    keel.end()
    near("mixed", keel.read(kept), (3 * x + x[0]) * 0.5)
    near("mixed: gradient", keel.read(slope), numpy.full(16, 8, "f4"))


def main():
    library = sys.argv[1]
    mesh = Mesh(numpy.array(jax.devices()).reshape(2, 2), tuple(SIZES))
    keel = Parts(library, **SIZES)
    for body in BODIES:
        compare(keel, mesh, *body)
    mixes(keel)
    print("ok")


if __name__ == "__main__":
    main()
