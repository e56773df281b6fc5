#!/usr/bin/env python3
"""Holds the gradient of each operation against finite differences of its own values.

Usage: tests/tensor/differences.py LIBKEEL [NAME...]

The cases are those of against_jax.py and control_against_jax.py whose inputs and results are floats,
in f64 or c128. The loss is the sum of the result times fixed weights; its slope in one direction is computed from the gradients,
and from the loss at four places around. Inputs are moved apart first: where two are equal, a maximum
has no derivative. If the gradient is meant to be another one, the case is listed below with the reason.
"""

import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import against_jax  # noqa: E402
import arrays  # noqa: E402
import axes  # noqa: E402
import control  # noqa: E402
import control_against_jax  # noqa: E402
import front  # noqa: E402
import numpy  # noqa: E402

STEP = 1e-4
WEIGHTS = {1: 8 / 12, -1: -8 / 12, 2: -1 / 12, -2: 1 / 12}  # of the losses so many steps away
APART = 1e-3  # more than four steps, so that nothing passes its neighbour
TOLERANCE = 1e-7  # of the sum of what each input adds to the slope, or of 1 if that is more
TOGETHER = 40  # cases in a program
DOUBLE = {"float32": "float64", "float64": "float64", "complex64": "complex128", "complex128": "complex128"}
STOPPED, CUSTOM = "behind stop_gradient", "a custom gradient that is not a derivative"
OTHER = {
    "stop_gradient": STOPPED,
    "logsumexp at its ends": STOPPED,
    "softplus at its ends": STOPPED,
    "pool MAX with dilation": STOPPED,
    "pool MIN with dilation": STOPPED,
    "custom gradient": CUSTOM,
    "custom gradient in scan": CUSTOM,
    "custom gradient in cond in checkpoint": CUSTOM,
    "bitcast": "its integers do not have the bits of f64",
    "layers of other shapes": "expects a reason that names f32",
    "layers of another carry": "expects a reason that names f32",
}


class Front(control.Front, arrays.FrontArrays, axes.FrontAxes):
    pass


def all_cases():
    """As name -> (function, inputs)."""
    against_jax.fill()
    return against_jax.CASES | {name: (function, [numpy.asarray(x) for x in inputs]) for name, (
        function, inputs, is_differentiable) in control_against_jax.CASES.items() if is_differentiable}


def doubled(inputs):
    """In double precision, and apart; None if no input has one, or some are of small floats."""
    floating = [x for x in inputs if against_jax.is_float(x)]
    if not floating or any(str(x.dtype) not in DOUBLE for x in floating):
        return None
    out = []
    for which, x in enumerate(inputs):
        apart = APART * (numpy.arange(x.size) + which / 2).reshape(x.shape)
        out.append(x.astype(DOUBLE[str(x.dtype)]) + apart if against_jax.is_float(x) else x)
    return out


def directions(inputs):
    """One for each input; an integer stays where it is."""
    random = numpy.random.default_rng(11)
    out = []
    for x in inputs:
        direction = random.uniform(-1, 1, x.shape)
        if x.dtype.kind == "c":
            direction = direction + 1j * random.uniform(-1, 1, x.shape)
        out.append(direction.astype(x.dtype) if against_jax.is_float(x) else numpy.zeros_like(x))
    return out


class Case:
    def __init__(self, k, name, function, inputs):
        self.name, self.function, self.inputs = name, function, inputs
        self.ways = directions(inputs)
        self.losses, self.gradients, self.made = [], [], []
        for times in (0, *WEIGHTS):
            if not self.add_loss(k, times):
                return

    def add_loss(self, k, times):
        """False if the result is not of such floats."""
        moved = [x + (times * STEP * way if against_jax.is_float(x) else 0) for x, way in zip(self.inputs, self.ways)]
        tensors = [k.variable(numpy.asarray(x, y.dtype)) for x, y in zip(moved, self.inputs)]
        self.made += tensors
        value = self.function(k, *tensors)
        dtype = front.NUMPY[front.DTYPES[k.c.keel_dtype(value)]]
        if dtype not in ("float64", "complex128"):
            return False
        shape = k.c.keel_shape(value)
        weights = against_jax.weights_of(numpy.zeros(shape.dims[: shape.rank], dtype)).astype(dtype)
        self.made.append(k.variable(weights))
        loss = k.reduce("SUM", k.binary("MULTIPLY", value, self.made[-1]), range(shape.rank))
        loss = k.call("real", loss) if dtype == "complex128" else loss
        self.losses.append(k.keep(loss))
        if not times:
            self.floating = against_jax.floating_of(self.inputs)
            self.gradients = [k.keep(g) for g in k.gradients(loss, [tensors[i] for i in self.floating])]
        return True

    def finish(self, k):
        """What is wrong; "" if nothing is; None if nothing was compared."""
        losses = [float(k.read(loss)) for loss in self.losses]
        parts = [k.read(g) * self.ways[i] for g, i in zip(self.gradients, self.floating)] if losses else []
        for tensor in [*self.losses, *self.gradients, *self.made]:
            k.release(tensor)
        if not losses or not numpy.isfinite(losses).all():
            return None
        slope = sum(float(part.real.sum()) for part in parts)
        difference = sum(weight * loss for weight, loss in zip(WEIGHTS.values(), losses[1:])) / STEP
        scale = max(1, sum(float(numpy.abs(part).sum()) for part in parts))
        if abs(slope - difference) <= TOLERANCE * scale:
            return ""
        return f"{slope:.10g} by the gradient, {difference:.10g} by differences"


def check(k, cases):
    """Traces all of these in one step; as (name, what is wrong)."""
    traced = [Case(k, name, function, inputs) for name, function, inputs in cases]
    k.end()
    return [(case.name, case.finish(k)) for case in traced]


def check_each(k, cases):
    """The same, one case a step if they cannot run together, so that an error has its name."""
    try:
        return check(k, cases)
    except front.Error as error:
        if len(cases) == 1:
            return [(cases[0][0], str(error))]
    return [result for case in cases for result in check_each(k, [case])]


def main():
    library, only = sys.argv[1], sys.argv[2:]
    cases = [(name, function, doubled(inputs)) for name, (function, inputs) in all_cases().items()
             if not only or any(part in name for part in only)]
    cases = [case for case in cases if case[2] is not None]
    k = Front(library)
    k.c.keel_dtype.restype = int
    results = [result for first in range(0, len(cases), TOGETHER) for result in check_each(k, cases[first : first + TOGETHER])]
    compared = {name: what for name, what in results if what is not None}
    wrong = {name: what for name, what in compared.items() if what and name not in OTHER}
    stale = [] if only else sorted(name for name in OTHER if not compared.get(name))
    for name, what in wrong.items():
        print(f"{name}: {what}")
    for name in stale:
        print(f"{name}: listed, and equal or gone")
    print(f"{len(compared)} cases, {len(wrong)} wrong")
    return 1 if wrong or stale or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
