#!/usr/bin/env python3
"""Holds first values, schedules and optimizers against their formulas, written in NumPy.

Usage: tests/tensor/against_formulas.py LIBKEEL
"""

import ctypes
import sys

import front
import ml_dtypes
import models
import numpy

RANDOM = numpy.random.default_rng(3)
STEPS = 7


def close(what, ours, theirs, tolerance=1e-5):
    ours, theirs = numpy.asarray(ours, "float64"), numpy.asarray(theirs, "float64")
    apart = numpy.abs(ours - theirs).max(initial=0) / max(1e-30, numpy.abs(theirs).max(initial=0))
    assert ours.shape == theirs.shape and apart <= tolerance, f"{what}: {apart:.3g} apart:\n{ours}\n{theirs}"


# ---- first values --------------------------------------------------------------------------------

def mix(h):
    h = (h ^ (h >> numpy.uint32(16))) * numpy.uint32(0x85EBCA6B)
    h = (h ^ (h >> numpy.uint32(13))) * numpy.uint32(0xC2B2AE35)
    return h ^ (h >> numpy.uint32(16))


def random_of(name, seed, shape):
    h = 0x811C9DC5
    for byte in name.encode():
        h = (h ^ byte) * 0x01000193 % 2**32
    start = mix(numpy.array([(h + seed * 0x9E3779B9) % 2**32], "uint32"))
    place = numpy.arange(numpy.prod(shape, dtype=int), dtype="uint32") * numpy.uint32(0x9E3779B1)
    return (mix(place + start) >> numpy.uint32(8)).astype("float32").reshape(shape) * numpy.float32(2**-24)


def check_first_values(k):
    tree, limit = models.Tree(k), numpy.float32(numpy.sqrt(3) * 0.1)
    tree.add("L04.A.wqkv", "F32", (3, 50), "UNIFORM", limit)
    tree.add("small", "BF16", (17,), "UNIFORM", 2.0)
    tree.add("bell", "F32", (100, 100), "NORMAL", 0.5)
    tree.add("none", "F32", (0, 3), "UNIFORM", 1.0)
    tree.add("one", "F64", (2, 2), "FILL", 1.0)
    tree.add("count", "I32", (), "FILL", -3.0, state=True)
    before = k.figures().programs
    for seed in (0, 7, 2**32 - 1):
        tree.initialize(seed)
        got = {name: k.read(tensor) for name, tensor in tree.leaves().items()}
        u = random_of("L04.A.wqkv", seed, (3, 50))
        assert (got["L04.A.wqkv"] == (2 * u - 1) * limit).all(), "the same bits"
        small = ((2 * random_of("small", seed, (17,)) - 1) * numpy.float32(2)).astype(ml_dtypes.bfloat16)
        assert (got["small"] == small).all(), "the same bits in bf16"
        bell = got["bell"]
        assert abs(bell.mean()) < 0.02 and abs(bell.std() - 0.5) < 0.01 and abs((abs(bell) < 0.5).mean() - 0.683) < 0.02
        assert (got["one"] == 1).all() and got["count"] == -3 and got["none"].shape == (0, 3)
    assert k.figures().programs == before + 1, "one program, whatever the seed"
    tree.free()


# ---- schedules -----------------------------------------------------------------------------------

def rate_of(curve, t, peak, warmup=0, end=0, last=1):
    rate = peak * min(1, t / max(warmup, 1))
    p = min(1, max(0, (t - warmup) / max(end - warmup, 1)))
    if curve == "LINEAR":
        rate *= 1 - (1 - last) * p
    if curve == "COSINE":
        rate *= last + (1 - last) * (1 + numpy.cos(numpy.pi * p)) / 2
    return rate


def check_schedules(k):
    step = k.variable(numpy.array(0, "int32"))
    places = [("CONSTANT", 0.3), ("CONSTANT", 0.3, 5), ("LINEAR", 2.0, 3, 12, 0.0), ("COSINE", 2e-3, 5, 30, 0.1),
              ("COSINE", 1.0, 0, 10, 0.0), ("LINEAR", 1.0, 4, 4, 0.5)]
    before = k.figures().programs
    for t in range(1, 40):
        k.assign(step, k.binary("ADD", step, k.number(step, 1)))
        kept = [k.keep(k.call("rate", models.schedule(*place), step)) for place in places]
        k.end()
        for place, tensor in zip(places, kept):
            close(f"{place} at {t}", k.read(tensor), rate_of(place[0], t, *place[1:]), 2e-6)
            k.release(tensor)
    assert k.figures().programs == before + 1
    # Other numbers, the same program.
    k.assign(step, k.binary("ADD", step, k.number(step, 1)))
    kept = [k.keep(k.call("rate", models.schedule(place[0], 9.0, 2, 100, 0.5), step)) for place in places]
    k.end()
    for place, tensor in zip(places, kept):
        close(place[0], k.read(tensor), rate_of(place[0], 40, 9.0, 2, 100, 0.5), 2e-6)
        k.release(tensor)
    assert k.figures().programs == before + 1


# ---- optimizers ----------------------------------------------------------------------------------

class Formula:
    """One parameter, in double precision; `stored` is what the parameter's dtype keeps of it."""

    def __init__(self, x, rule, beta1=0.0, beta2=0.0, epsilon=0.0, decay=0.0, rate_scale=1.0, decay_scale=1.0, **_):
        self.dtype, self.x = x.dtype, x.astype("float64")
        self.rule, self.beta1, self.beta2, self.epsilon = rule, beta1, beta2, epsilon
        self.decay, self.scale, self.m, self.v = decay * decay_scale, rate_scale, 0, 0

    def step(self, g, rate, t):
        b1, b2 = self.beta1, self.beta2
        if self.rule == "SGD":
            self.m = u = b1 * self.m + g
        elif self.rule == "LION":
            u = numpy.sign(b1 * self.m + (1 - b1) * g)
            self.m = b2 * self.m + (1 - b2) * g
        else:
            self.m = b1 * self.m + (1 - b1) * g
            self.v = b2 * self.v + (1 - b2) * g * g
            u = self.m / (1 - b1**t) / (numpy.sqrt(self.v / (1 - b2**t)) + self.epsilon)
        x = self.x - self.scale * rate * (u + self.decay * self.x)
        self.x = x.astype("float32" if self.dtype.itemsize < 4 else self.dtype).astype(self.dtype).astype("float64")


RULES = {
    "sgd": {"rule": "SGD"},
    "momentum": {"rule": "SGD", "beta1": 0.9, "decay": 0.01},
    "adamw": {"rule": "ADAMW", "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "decay": 0.1},
    "adamw clipped": {"rule": "ADAMW", "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-6, "clip": 0.5},
    "lion": {"rule": "LION", "beta1": 0.9, "beta2": 0.99, "decay": 0.3},
    "sgd clipped": {"rule": "SGD", "clip": 0.7},
    "adamw of 3": {"rule": "ADAMW", "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "decay": 0.1, "clip": 1.0, "every": 3},
    "lion of 2": {"rule": "LION", "beta1": 0.9, "beta2": 0.99, "every": 2},
    "sgd of 2": {"rule": "SGD", "every": 2},
}
PLACES = {"L0.w": ("F32", (3, 4)), "L0.b": ("F32", (4,)), "emb.tab": ("F32", (5, 2)), "half": ("BF16", (6,)),
          "double": ("F64", (2,))}
SCALES = [("emb.*", 5.0, 0.0), ("*.b", 1.0, 0.0)]


def make(k, rate, settings):
    tree = models.Tree(k)
    parameters = [tree.add(name, dtype, shape, "UNIFORM", 1.0) for name, (dtype, shape) in PLACES.items()]
    optimizer = models.Optimizer(tree, settings["rule"], rate, **{n: v for n, v in settings.items() if n != "rule"})
    for pattern, scale, decay in SCALES:
        assert optimizer.scale(pattern, scale, decay) == 1
    tree.initialize(5)
    return tree, optimizer, parameters


def scales_of(name):
    return {"emb.tab": {"rate_scale": 5.0, "decay_scale": 0.0}, "L0.b": {"decay_scale": 0.0}}.get(name, {})


def check_state(k, tree, name):
    """The state of bf16 is f32, that of f64 is f64, and zeroed sums keep nothing."""
    dtypes = {leaf: front.DTYPES[k.c.keel_dtype(tensor)] for leaf, tensor in tree.leaves().items()}
    for leaf, dtype in dtypes.items():
        if leaf.startswith("optimizer.") and leaf not in ("optimizer.step", "optimizer.micro"):
            assert dtype == ("F64" if leaf.endswith("double") else "F32"), (name, leaf, dtype)


def check_rule(k, name, settings):
    place = ("COSINE", 0.05, 3, 10, 0.1)
    tree, optimizer, parameters = make(k, models.schedule(*place), settings)
    formulas = [Formula(k.read(p), **settings, **scales_of(n)) for n, p in zip(PLACES, parameters)]
    every, t, sums = settings.get("every", 1), 1, []
    before = k.figures().programs
    for step in range(STEPS * every):
        gradients = [RANDOM.normal(size=f.x.shape).astype(f.dtype) for f in formulas]
        inputs = [k.call("input", k.context, b"g", front.dtype_of(g), front.shape_of(g.shape),
                         ctypes.c_void_p(g.ctypes.data))
                  for g in gradients]
        optimizer.step(inputs)
        norm, rate = k.keep(optimizer.of_step("norm")), k.keep(optimizer.of_step("rate"))
        k.end()
        wide = [g.astype("float64") for g in gradients]
        sums = [s + g for s, g in zip(sums, wide)] if sums else wide
        mean = [s / every for s in sums] if (step + 1) % every == 0 else [s / every for s in sums]
        expected = numpy.sqrt(sum((g * g).sum() for g in mean))
        close(f"{name}: norm", k.read(norm), expected)
        close(f"{name}: rate", k.read(rate), rate_of(place[0], t, *place[1:]))
        k.release(norm), k.release(rate)
        if (step + 1) % every == 0:
            share = min(1, settings["clip"] / (expected + 1e-6)) if "clip" in settings else 1
            for formula, g in zip(formulas, mean):
                formula.step(g * share, rate_of(place[0], t, *place[1:]), t)
            t, sums = t + 1, []
        for place_name, parameter, formula in zip(PLACES, parameters, formulas):
            tolerance = 2**-7 if formula.dtype.itemsize == 2 else 1e-5
            close(f"{name}: {place_name} after {step + 1}", k.read(parameter), formula.x, tolerance)
    assert k.read(tree.get("optimizer.step")) == STEPS
    assert k.figures().programs == before + 1, f"{name}: {k.figures().programs - before} programs"
    check_state(k, tree, name)
    optimizer.free(), tree.free()


def check_numbers_of_options(k):
    """Other numbers between two steps make no new program."""
    settings = {"rule": "ADAMW", "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "decay": 0.1, "clip": 1.0}
    tree, optimizer, parameters = make(k, models.schedule("CONSTANT", 0.1), settings)
    before = k.figures().programs
    for step in range(4):
        options = optimizer.options()
        options.rate.peak, options.decay, options.clip, options.beta2 = 0.1 / (step + 1), 0.01 * (step + 1), 1 + step, 0.9
        optimizer.step(parameters)
        k.end()
    assert k.figures().programs == before + 1
    optimizer.free(), tree.free()


def main():
    k = front.Front(sys.argv[1])
    check_first_values(k)
    check_schedules(k)
    for name, settings in RULES.items():
        check_rule(k, name, settings)
    check_numbers_of_options(k)
    print(f"first values, schedules and {len(RULES)} rules are what their formulas say")


if __name__ == "__main__":
    main()
