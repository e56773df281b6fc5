#!/usr/bin/env python3
"""Holds loops and branches, and their gradients, against JAX.

Usage: tests/tensor/control_against_jax.py LIBKEEL [NAME...]

Cases, inputs and tolerances are those of against_jax.py.
"""

import sys

import against_jax
import control
import numpy
from against_jax import floats, integers, long


class Jax(control.Jax, against_jax.Jax):
    pass


CASES = {}


def case(*inputs, is_differentiable=True):
    def add(function):
        CASES[function.__name__.replace("_", " ")] = (function, inputs, is_differentiable)
        return function

    return add


def mul(k, x, y):
    return k.binary("MULTIPLY", x, y)


def plus(k, x, y):
    return k.binary("ADD", x, y)


@case(floats(3), floats(5, 3), floats(3))
def scan_with_capture(k, carry, inputs, scale):
    def body(t):
        new = k.unary("TANH", plus(k, mul(k, t[0], scale), t[1]))
        return [new, mul(k, new, t[1])]

    last, stacked = k.scan(body, [carry], [inputs], 1)
    return plus(k, stacked, last)


@case(floats(3), floats(5, 3), floats(3))
def scan_reversed(k, carry, inputs, scale):
    def body(t):
        new = plus(k, mul(k, t[0], scale), k.unary("SIN", t[1]))
        return [new, mul(k, new, t[0])]

    last, stacked = k.scan(body, [carry], [inputs], 1, is_reversed=True)
    return plus(k, stacked, last)


@case(floats(4), floats(4, 4) / 2)
def scan_by_length(k, x, w):
    def body(t):
        row = k.call("matmul", k.call("reshape", t[0], shape(k, 1, 4)), w)
        return [k.unary("TANH", k.call("reshape", row, shape(k, 4)))]

    return k.scan(body, [x], length=6)[0]


def of_policy(save):
    def layers(k, x, w, b):
        def body(t):
            y = k.call("matmul", t[0], t[1])
            return [plus(k, t[0], k.call("gelu", plus(k, y, t[2])))]

        return k.scan(body, [x], [w, b], save=save)[0]

    layers.__name__ = f"layers_saving_{save}"
    return case(floats(2, 3), floats(4, 3, 3) / 2, floats(4, 3))(layers)


for policy in control.SAVE:
    of_policy(policy)


@case(floats(2), floats(3, 4, 2), floats(2))
def scan_in_scan(k, carry, inputs, scale):
    def outer(t):
        def inner(u):
            new = k.unary("SIN", plus(k, mul(k, u[0], scale), mul(k, u[1], t[0])))
            return [new, mul(k, new, new)]

        last, stacked = k.scan(inner, [t[0]], [t[1]], 1)
        return [last, k.reduce("SUM", stacked, [0])]

    last, stacked = k.scan(outer, [carry], [inputs], 1)
    return plus(k, last, stacked)


@case(floats(3), floats(5, 3), floats(2, 3))
def complex_scan(k, x, inputs, parts):
    """A carry, inputs, outputs and a captured value that are complex, with a branch."""
    part = lambda i: k.call("reshape", k.call("slice", parts, 0, long(i), long(i + 1)), shape(k, 3))  # noqa: E731
    scale = k.call("complex", part(0), part(1))

    def body(t):
        turned = mul(k, mul(k, t[0], scale), t[1])
        size = k.reduce("SUM", k.unary("ABS", turned), [0])
        new = k.cond(k.compare("LESS", size, k.number(size, 1)), lambda: [k.unary("EXP", turned)],
                     lambda: [k.call("conj", turned)], 1)
        return [new[0], k.call("fft", new[0], 1)]

    carry = k.call("complex", x, k.unary("SIN", x))
    last, stacked = k.scan(body, [carry], [k.call("complex", inputs, k.unary("COS", inputs))], 1)
    return k.call("real", mul(k, k.reduce("SUM", stacked, [0]), last))


@case(floats(3), floats(3), numpy.float32(0.5))
def cond_true(k, x, y, p):
    t, f = lambda: [k.unary("SIN", x), mul(k, x, y)], lambda: [mul(k, y, y), x]
    a, b = k.cond(k.compare("LESS", p, k.number(p, 1)), t, f, 2)
    return plus(k, a, mul(k, b, x))


@case(floats(3), floats(3), numpy.float32(1.5))
def cond_false(k, x, y, p):
    return cond_true(k, x, y, p)


@case(floats(3), floats(6, 3), floats(3))
def cond_in_scan(k, carry, inputs, scale):
    def body(t):
        positive = k.compare("GREATER", k.reduce("SUM", t[1], [0]), k.number(t[1], 0))
        new = k.cond(positive, lambda: [mul(k, t[0], scale)], lambda: [k.unary("SIN", plus(k, t[0], t[1]))], 1)
        return [new[0], mul(k, new[0], k.number(t[0], 0.5))]

    last, stacked = k.scan(body, [carry], [inputs], 1)
    return plus(k, stacked, last)


@case(floats(3), floats(4, 3), numpy.float32(0.5))
def scan_in_cond(k, x, inputs, p):
    def on_true():
        return k.scan(lambda t: [k.unary("TANH", plus(k, t[0], mul(k, t[1], x)))], [x], [inputs])

    return k.cond(k.compare("LESS", p, k.number(p, 1)), on_true, lambda: [x], 1)[0]


def of_index(index):
    def switch(k, x, i):
        return k.switch(i, [lambda: [k.unary("SIN", x)], lambda: [mul(k, x, x)], lambda: [k.number(x, 2)], ][:2]
                        + [lambda: [mul(k, x, mul(k, x, x))]], 1)[0]

    switch.__name__ = f"switch_at_{index}"
    return case(floats(3), numpy.int32(index))(switch)


for place in (-3, 0, 1, 2, 7):
    of_index(place)


@case(floats(3), numpy.int32(0), is_differentiable=False)
def while_with_capture(k, x, i):
    scale = k.unary("COS", x)
    return k.loop(lambda t: k.compare("LESS", t[1], k.number(t[1], 5)),
                  lambda t: [plus(k, mul(k, t[0], scale), x), plus(k, t[1], k.number(t[1], 1))], [x, i])[0]


@case(floats(3), integers(4, low=0, high=9), is_differentiable=False)
def while_in_scan(k, x, counts):
    def body(t):
        y, _ = k.loop(lambda u: k.compare("GREATER", u[1], k.number(u[1], 0)),
                      lambda u: [mul(k, u[0], k.number(u[0], 0.9)), plus(k, u[1], k.number(u[1], -1))], [t[0], t[1]])
        return [y, k.call("cast", t[1], against_jax.DTYPE["F32"])]

    y, stacked = k.scan(body, [x], [counts], 1)
    return mul(k, k.reduce("SUM", stacked, [0]), y)


@case(floats(3), floats(0, 3))
def scan_of_no_steps(k, x, inputs):
    last, stacked = k.scan(lambda t: [mul(k, t[0], t[1]), t[1]], [x], [inputs], 1)
    return plus(k, last, k.reduce("SUM", stacked, [0]))


@case(floats(3), floats(5, 3))
def carry_that_does_not_change(k, x, inputs):
    a, b, stacked = k.scan(lambda t: [t[0], t[2], mul(k, t[0], t[1])], [x, x], [inputs], 1)
    return plus(k, plus(k, a, b), stacked)


@case(floats(3), floats(5, 3))
def output_of_outside(k, x, inputs):
    last, stacked = k.scan(lambda t: [plus(k, t[0], t[1]), x], [x], [inputs], 1)
    return mul(k, last, stacked)


@case(floats(3), floats(4, 3), numpy.int32(1))
def scan_that_counts(k, x, inputs, n):
    def body(t):
        count, a, b = t[0], t[1], t[2]
        new = mul(k, plus(k, b, t[3]), k.call("cast", count, against_jax.DTYPE["F32"]))
        return [plus(k, count, k.number(count, 1)), k.unary("SIN", new), a, count]

    count, a, b, counts = k.scan(body, [n, x, x], [inputs], 1)
    total = k.call("cast", k.reduce("SUM", plus(k, counts, count), [0]), against_jax.DTYPE["F32"])
    return mul(k, plus(k, a, b), total)


def layer(k, w):
    def body(t):
        return [plus(k, t[0], k.unary("TANH", k.call("matmul", k.unary("SIN", k.call("matmul", t[0], t[1])), w)))]

    return body


def of_checkpoint(save):
    def checkpoint(k, x, v, w):
        y = k.checkpoint(layer(k, w), [x, v], 1, save)[0]
        return mul(k, k.checkpoint(layer(k, w), [y, v], 1, save)[0], y)

    def checkpoint_in_scan(k, x, v, w):
        return k.scan(lambda t: k.checkpoint(layer(k, w), [t[0], t[1]], 1, save), [x], [v])[0]

    def checkpoint_in_checkpoint(k, x, v, w):
        def body(t):
            y = k.checkpoint(layer(k, w), t, 1, save)[0]
            return [k.unary("SIN", y), mul(k, y, x)]

        return plus(k, *k.checkpoint(body, [x, v], 2, "nothing"))

    checkpoint.__name__ += f"_{save}"
    checkpoint_in_scan.__name__ += f"_{save}"
    checkpoint_in_checkpoint.__name__ += f"_{save}"
    case(floats(2, 3), floats(3, 4), floats(4, 3))(checkpoint)
    case(floats(2, 3), floats(5, 3, 4), floats(4, 3))(checkpoint_in_scan)
    case(floats(2, 3), floats(3, 4), floats(4, 3))(checkpoint_in_checkpoint)


for policy in control.SAVE:
    of_checkpoint(policy)


def softplus(k, x, y):
    def forward(t):
        e = k.unary("EXP", t[0])
        return [k.unary("LOG1P", e), mul(k, t[0], t[1]), e]

    def backward(t):
        x, y, _, _, e, g, h = t
        one = k.number(e, 1)
        return [plus(k, k.binary("DIVIDE", mul(k, g, e), plus(k, e, one)), mul(k, h, y)), mul(k, h, mul(k, x, k.number(x, 3)))]

    return k.custom(forward, backward, [x, y], 2, 1)


@case(floats(3), floats(3))
def custom_gradient(k, x, y):
    a, b = softplus(k, k.unary("SIN", x), y)
    return plus(k, a, mul(k, b, x))


@case(floats(3), floats(3))
def custom_gradient_of_one_output(k, x, y):
    return softplus(k, k.unary("SIN", x), y)[0]


@case(floats(3), floats(4, 3))
def custom_gradient_in_scan(k, x, y):
    last, stacked = k.scan(lambda t: softplus(k, t[0], t[1]), [x], [y], 1)
    return mul(k, last, stacked)


@case(floats(3), floats(4, 3), numpy.float32(0))
def custom_gradient_in_cond_in_checkpoint(k, x, y, p):
    yes = k.compare("LESS", p, k.number(p, 1))

    def body(t):
        return k.cond(yes, lambda: softplus(k, t[0], x), lambda: [t[0], x], 2)

    return plus(k, *k.checkpoint(body, [k.reduce("SUM", y, [0])], 2, "nothing"))


@case(floats(3), floats(3))
def barrier(k, x, y):
    a, b = k.barrier([k.unary("SIN", x), mul(k, x, y)])
    return mul(k, a, b)


@case(floats(3), floats(4, 3), floats(3))
def gradient_of_gradient_of_scan(k, x, inputs, scale):
    def body(t):
        new = k.unary("SIN", plus(k, mul(k, t[0], scale), t[1]))
        return [new, mul(k, new, t[0])]

    def both(x):
        last, stacked = k.scan(body, [x], [inputs], 1)
        return plus(k, mul(k, last, last), stacked)

    return k.slope(both, mul(k, x, x))


@case(floats(3), floats(2, 4, 3))
def gradient_of_gradient_of_scan_in_scan(k, x, inputs):
    def body(t):
        return k.scan(lambda u: [k.unary("SIN", mul(k, u[0], u[1]))], [t[0]], [t[1]])

    return k.slope(lambda x: k.scan(body, [x], [inputs])[0], mul(k, x, x))


@case(floats(3), numpy.float32(0))
def gradient_of_gradient_of_cond(k, x, p):
    yes = k.compare("LESS", p, k.number(p, 1))
    return k.slope(lambda x: k.cond(yes, lambda: [k.unary("SIN", mul(k, x, x))], lambda: [x], 1)[0], mul(k, x, x))


@case(floats(2, 3), floats(3, 4), floats(4, 3))
def gradient_of_gradient_of_checkpoint(k, x, v, w):
    return k.slope(lambda x: k.checkpoint(layer(k, w), [x, v], 1, "dots")[0], mul(k, x, x))


@case(floats(3), floats(4, 3))
def gradient_in_a_body(k, x, inputs):
    def body(t):
        return [k.slope(lambda y: mul(k, k.unary("SIN", y), x), plus(k, t[0], t[1]))]

    return k.scan(body, [x], [inputs])[0]


def of_layers(name, layer, last=3, **options):
    def layers(k, x, *parameters):
        pairs = [parameters[i : i + 2] for i in range(0, len(parameters), 2)]
        return k.layers(lambda number, t: layer(k, number, *t), [x], pairs, **options)[0]

    layers.__name__ = name
    sizes = [3, 3, last]
    case(floats(2, 3), *(x for n in sizes for x in (floats(3, n), floats(n, 3))))(layers)


def mlp(k, number, x, v, w):
    return [plus(k, x, k.call("matmul", k.call("gelu", k.call("matmul", x, v)), w))]


def odd(k, number, x, v, w):
    y = mlp(k, number, x, v, w)[0]
    return [k.unary("SIN", y) if number == 1 else k.unary("COS", y)]


def of_number(values):
    return lambda k, number, x, v, w: [mul(k, mlp(k, number, x, v, w)[0], k.number(x, values[number]))]


def with_region(k, number, x, v, w):
    inner = lambda t: [plus(k, t[0], k.unary("SIN", t[1]))]  # noqa: E731
    y = k.scan(inner, [k.reduce("SUM", x, [0])], [v])[0]
    return k.checkpoint(lambda t: [mul(k, mlp(k, number, t[0], v, w)[0], y)], [x], 1, "dots")


of_layers("layers", mlp)
of_layers("layers_saving_dots", mlp, save="dots")
of_layers("layers_saving_nothing", mlp, save="nothing")
of_layers("layers_of_equal_numbers", of_number([2, 2, 2]))
of_layers("layers_with_regions", with_region)
of_layers("layers_unrolled", mlp, declined="it was asked not to", barrier_every=2)
of_layers("layers_unrolled_saving_dots", mlp, declined="it was asked not to", save="dots", barrier_every=1)
of_layers("layers_of_other_shapes", mlp, last=4, declined="parameter 1 is f32[3,3] in the first layer, and f32[3,4] in layer 3")
of_layers("layers_of_other_operations", odd, declined="layer 2 does something else than the first at front.py:1")
of_layers("layers_of_other_numbers", of_number([1, 1, 2]))
of_layers("layers_of_other_numbers_saving_nothing", of_number([1, 3, 2]), save="nothing")


@case(floats(2, 3), floats(3, 4), floats(4, 5))
def layers_of_another_carry(k, x, v, w):
    def one(number, t):
        return [k.unary("SIN", k.call("matmul", t[0], k.call("slice", t[1], 0, against_jax.long(0), against_jax.long(3 + number))))]

    wide = k.call("pad", v, 0, against_jax.long(0), against_jax.long(1))
    tall = k.call("slice", w, 1, against_jax.long(0), against_jax.long(4))
    return k.layers(one, [x], [[wide], [tall]], declined="carry 1 is f32[2,3], and the first layer makes f32[2,4] of it")[0]


def shape(k, *dims):
    return against_jax.front.shape_of(dims) if isinstance(k, control.Front) else dims


def is_wanted(name, only):
    return not only or any(part in name for part in only)


def main():
    library, only = sys.argv[1], sys.argv[2:]
    against_jax.Jax = Jax
    k = control.Front(library)
    wrong, values = [], 0
    for name, (function, inputs, is_differentiable) in CASES.items():
        if not is_wanted(name, only):
            continue
        floating = against_jax.floating_of(inputs) if is_differentiable else []
        inputs = [numpy.asarray(x) for x in inputs]
        expected = against_jax.of_jax(function, inputs, floating)
        try:
            kept, _ = against_jax.trace(k, function, inputs, floating, numpy.asarray(expected[0]))
            k.end()
        except against_jax.front.Error as error:
            wrong.append(f"{name}: {error}")
            continue
        for place, (tensor, other) in enumerate(zip(kept, expected, strict=True)):
            what = against_jax.trouble(k.read(tensor), other, against_jax.GRADIENT if place else against_jax.VALUE)
            wrong += [f"{name}, {'gradient' if place else 'value'}: {what}"] if what else []
            values += 1
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{values} values and gradients, {len(wrong)} wrong")
    return 1 if wrong or not values else 0


if __name__ == "__main__":
    sys.exit(main())
