#!/usr/bin/env python3
"""Holds random graphs, with bodies, and their gradients against JAX.

Usage: tests/tensor/random_graphs.py LIBKEEL [FIRST-SEED COUNT]

A seed makes one graph: the same function draws the same operations, with the front end and with JAX,
because shapes and dtypes are the same. Everything is f64, so that what differs is wrong.
"""

import math
import os
import random
import sys

os.environ["KEEL_QUIET"] = "1"  # layers that differ are meant
import against_jax  # noqa: E402
import arrays  # noqa: E402
import control  # noqa: E402
import control_against_jax  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from against_jax import DTYPE, long  # noqa: E402

TOLERANCE = 1e-8
UNARY = ["SIN", "COS", "TANH", "SIGMOID", "NEGATE", "ABS"]
BINARY = ["ADD", "SUBTRACT", "MULTIPLY", "MAXIMUM", "MINIMUM"]
STEPS, DEEPEST, LARGEST = 9, 3, 64


class Ours(control.Front, arrays.FrontArrays):
    def dims(self, x):
        shape = self.c.keel_shape(x)
        return tuple(shape.dims[: shape.rank])

    def shape(self, dims):
        return against_jax.front.shape_of(dims)


class Theirs(control_against_jax.Jax):
    def dims(self, x):
        return x.shape

    def shape(self, dims):
        return dims


class Graph:
    """Draws operations; the tensors that they may use are in the pool."""

    def __init__(self, k, seed, inputs):
        self.k, self.random, self.pool, self.depth = k, random.Random(seed), list(inputs), 0

    def any(self):
        return self.random.choice(self.pool)

    def mild(self, x):
        return self.k.unary("SIN", x)

    def total(self, x):
        return self.k.reduce("SUM", x, range(len(self.k.dims(x))))

    def of(self, dims, x):
        """Something of these dimensions, made of x."""
        if self.k.dims(x) == dims:
            return x
        return self.k.call("broadcast", self.mild(self.total(x)), self.k.shape(dims))

    def binary(self):
        x, y = self.any(), self.any()
        try:
            dims = numpy.broadcast_shapes(self.k.dims(x), self.k.dims(y))
        except ValueError:
            dims = None
        if dims is None or math.prod(dims) > LARGEST:
            y = self.of(self.k.dims(x), y)
        return self.k.binary(self.random.choice(BINARY), x, y)

    def shaping(self):
        x, k = self.any(), self.k
        dims = k.dims(x)
        if not dims:
            return k.call("broadcast", x, k.shape((2, 3)))
        axis = self.random.randrange(len(dims))
        size = dims[axis]
        draw = self.random.randrange(8)
        if draw == 0:
            return k.call("slice", x, axis, long(size > 2), long(size))
        if draw == 1 and math.prod(dims) < LARGEST / 3:
            return k.call("pad", x, axis, long(1), long(self.random.randrange(2)))
        if draw == 2 and math.prod(dims) < LARGEST / 2:
            return k.call("concatenate", x, self.mild(x), axis)
        if draw == 3:
            return k.call("transpose", x, k.axes(*reversed(range(len(dims)))))
        if draw == 4:
            return k.call("reshape", x, k.shape((math.prod(dims),)))
        if draw == 5:
            return k.reduce(self.random.choice(["SUM", "MAX", "MIN", "PRODUCT"]), x, [axis])
        if draw == 6 and len(dims) == 2:
            return k.call("matmul", x, k.call("transpose", x, k.axes(1, 0)))
        return k.call("softmax", x, axis)

    def windows(self):
        x, k = self.any(), self.k
        size = [self.random.randrange(1, n + 1) for n in k.dims(x)[-2:]]
        options = {"stride": [self.random.randrange(1, 3) for _ in size], "before": [self.random.randrange(2) for _ in size]}
        return k.pool(self.random.choice(["SUM", "MAX", "MIN", "MEAN"]), x, size, options)

    def spectrum(self):
        x, k = self.any(), self.k
        if not k.dims(x) or self.depth:  # jax.checkpoint does not take complex numbers
            return k.unary("COS", x)
        half = k.call("rfft", x, 1)
        turned = k.binary("MULTIPLY", half, k.call("complex", k.call("real", half), k.unary("ABS", half)))
        return k.call("irfft", turned, 1, long(k.dims(x)[-1]))

    def select(self):
        x = self.any()
        y = self.of(self.k.dims(x), self.any())
        mask = self.k.compare("LESS", x, y)
        return self.k.call("select", mask, self.mild(x), self.k.binary("MULTIPLY", x, self.k.number(x, 0.5)))

    def inner(self, *given):
        """Bodies draw from what is outside, and what they make stays in them."""
        outside, self.depth = list(self.pool), self.depth + 1
        self.pool += given
        self.grow(3)
        results = [self.of(self.k.dims(x), self.k.binary("ADD", self.mild(self.total(self.pool[-1 - i])), self.mild(x)))
                   for i, x in enumerate(given)]
        self.pool, self.depth = outside, self.depth - 1
        return results

    def scan(self):
        x, y = self.any(), self.any()
        y = y if self.k.dims(y) else self.k.call("broadcast", y, self.k.shape((3,)))
        last, stacked = self.k.scan(lambda t: self.inner(*t), [x], [y], 1, is_reversed=self.random.random() < 0.5,
                                    save=self.random.choice(list(control.SAVE)))
        self.pool.append(stacked)
        return last

    def predicate(self):
        x = self.mild(self.total(self.any()))
        return self.k.compare("LESS", x, self.k.number(x, 0.1))

    def cond(self):
        x = self.any()
        return self.k.cond(self.predicate(), lambda: self.inner(x), lambda: self.inner(x), 1)[0]

    def switch(self):
        x = self.any()
        index = self.k.call("cast", self.predicate(), DTYPE["I32"])
        return self.k.switch(index, [lambda: self.inner(x)] * self.random.randrange(1, 4), 1)[0]

    def checkpoint(self):
        x, y = self.any(), self.any()
        out = self.k.checkpoint(lambda t: self.inner(*t), [x, y], 2, self.random.choice(list(control.SAVE)))
        self.pool.append(out[0])
        return out[1]

    def custom(self):
        x, k = self.any(), self.k
        # Wrong on purpose, so that only this rule gives it.
        return k.custom(lambda t: [self.mild(t[0]), k.unary("COS", t[0])],
                        lambda t: [k.binary("MULTIPLY", t[3], k.binary("ADD", t[2], t[1]))], [x], 1, 1)[0]

    def layers(self):
        x, k = self.any(), self.k
        differs = self.random.random() < 0.3

        def layer(number, t):
            y = k.binary("MULTIPLY", self.mild(t[0]), t[1])
            return [k.unary("COS", y) if differs and number == 1 else y]

        parameters = [[self.of(k.dims(x), self.any())] for _ in range(3)]
        return k.layers(layer, [x], parameters, save=self.random.choice(list(control.SAVE)),
                        barrier_every=self.random.randrange(3), declined="layer 2" if differs else None)

    def barrier(self):
        return self.k.barrier([self.any(), self.any()])[0]

    def loop(self):
        x, k = self.any(), self.k
        zero = k.call("cast", self.predicate(), DTYPE["F64"])
        x, _ = k.loop(lambda t: k.compare("LESS", t[1], k.number(t[1], 3)),
                      lambda t: [self.mild(k.binary("ADD", t[0], t[1])), k.binary("ADD", t[1], k.number(t[1], 1))],
                      [k.call("stop_gradient", x), k.call("stop_gradient", zero)])
        return k.call("stop_gradient", x)

    def grow(self, steps):
        plain = [self.binary, self.shaping, self.select, self.windows, self.spectrum, lambda: self.k.unary(self.random.choice(UNARY), self.any())]
        bodies = [self.scan, self.scan, self.cond, self.switch, self.checkpoint, self.custom, self.layers,
                  self.barrier, self.loop]
        for _ in range(steps):
            is_deep = self.depth < DEEPEST and self.random.random() < 0.4
            made = self.random.choice(bodies if is_deep else plain)()
            made = made[0] if isinstance(made, list) else made
            self.pool.append(self.mild(made))

    def result(self):
        total = self.k.number(self.pool[0], 0)
        for place, x in enumerate(self.pool):
            total = self.k.binary("ADD", total, self.k.binary("MULTIPLY", self.total(x), self.k.number(total, 1 + place / 8)))
        return total


def compute(k, seed, inputs):
    graph = Graph(k, seed, inputs)
    graph.grow(STEPS)
    return graph.result()


def inputs_of(seed):
    drawn = numpy.random.default_rng(seed)
    return [drawn.uniform(-1, 1, shape) for shape in [(), (3,), (2, 3), (4, 2)]]


def check(k, seed):
    inputs = inputs_of(seed)
    expected = jax.jit(jax.value_and_grad(lambda x: compute(Theirs(), seed, x)))([jnp.asarray(x) for x in inputs])
    variables = [k.variable(x) for x in inputs]
    value = compute(k, seed, variables)
    kept = [k.keep(x) for x in [value, *k.gradients(value, variables)]]
    k.end()
    wrong = []
    for place, (ours, theirs) in enumerate(zip(kept, [expected[0], *expected[1]], strict=True)):
        what = against_jax.trouble(k.read(ours), theirs, TOLERANCE)
        wrong += [f"seed {seed}, {f'gradient {place}' if place else 'value'}: {what}"] if what else []
    for tensor in [*kept, *variables]:
        k.release(tensor)
    k.kept.clear()
    return wrong


def main():
    first, count = map(int, sys.argv[2:4]) if len(sys.argv) == 4 else (1, 8)
    k = Ours(sys.argv[1])
    wrong = []
    for seed in range(first, first + count):
        try:
            troubles = check(k, seed)
        except against_jax.front.Error as error:
            troubles = [f"seed {seed}: {error}"]
        print("\n".join(troubles), end="\n" if troubles else "", flush=True)
        wrong += troubles
    print(f"{count} graphs from seed {first}: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
