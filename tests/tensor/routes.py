#!/usr/bin/env python3
"""Rows that a mask chooses, and tokens to experts and back, beside plain loops and JAX.

Usage: tests/tensor/routes.py LIBKEEL
"""

import ctypes
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import front  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import models  # noqa: E402
import numpy  # noqa: E402

RANDOM = numpy.random.default_rng(9)
N, E, D, W = 23, 5, 4, 3


def close(what, ours, theirs, tolerance):
    apart = numpy.abs(ours - theirs).max(initial=0) / max(1e-2, numpy.abs(theirs).max(initial=0))
    assert ours.shape == theirs.shape and apart <= tolerance, f"{what}: {apart:.3g} apart\n{ours}\n{theirs}"


def plain_route(choice, valid, top, capacity):
    """For each expert its tokens in order, and for each token its experts, the best first."""
    order = numpy.argsort(-choice, axis=1, kind="stable")[:, :top]
    chosen = numpy.zeros(choice.shape, bool)
    for token in range(len(choice)):
        chosen[token, order[token]] = valid[token]
    queues = [numpy.flatnonzero(chosen[:, expert]) for expert in range(choice.shape[1])]
    kept = numpy.zeros_like(chosen)
    for expert, queue in enumerate(queues):
        kept[queue[:capacity], expert] = True
    return chosen, kept, queues


def formula(x, scores, w, chosen, kept, scale):
    """Every expert on every token, weighed: what dispatch and combine must equal."""
    share = jnp.where(chosen, scores, 0)
    gate = scale * share / jnp.maximum(share.sum(1, keepdims=True), 1e-9)
    y = jnp.tanh(jnp.einsum("nd,edw->enw", x, w, precision="highest"))
    return jnp.einsum("ne,enw->nw", gate * kept, y, precision="highest")


def check(k, name, top, capacity, bias, valid, scores=None):
    x = RANDOM.normal(size=(N, D)).astype("float32")
    if scores is None:
        scores = RANDOM.uniform(0.05, 1, (N, E)).astype("float32")
    w = RANDOM.normal(size=(E, D, W)).astype("float32")
    back = RANDOM.normal(size=(N, W)).astype("float32")
    choice = scores + bias
    chosen, kept, queues = plain_route(choice, valid, top, capacity)
    expected = formula(x, scores, w, chosen, kept, 2.5)
    gradients = jax.grad(lambda *a: jnp.sum(formula(*a, chosen, kept, 2.5) * back), (0, 1, 2))(x, scores, w)

    variables = [k.variable(a) for a in (x, scores, w)]
    others = [k.variable(a) for a in (choice, valid, back)]
    total = k.variable(numpy.array(5, "int32"))
    r = models.route(k, variables[1], others[0], others[1], top, capacity, 2.5)
    slots = k.call("dispatch", ctypes.byref(r), variables[0])
    y = k.call("combine", ctypes.byref(r), k.unary("TANH", k.call("matmul", slots, variables[2])))
    loss = k.reduce("SUM", k.binary("MULTIPLY", y, others[2]), range(2))
    k.c.keel_add_to_at.restype = None
    kept_tensors = [k.keep(t) for t in (y, *k.gradients(loss, variables), r.load, r.is_chosen, slots, r.token, r.is_full)]
    k.c.keel_add_to_at(front.HERE, total, r.dropped)
    k.end()
    got = [k.read(t) for t in kept_tensors]
    close(f"{name}: result", got[0], numpy.asarray(expected), 1e-5)
    for place, theirs in enumerate(gradients):
        close(f"{name}: gradient {place}", got[1 + place], numpy.asarray(theirs), 1e-4)
    assert (got[4] == [len(q) for q in queues]).all() and (got[5] == chosen).all(), name
    for expert, queue in enumerate(queues):
        queue = queue[:capacity]
        assert (got[7][expert, : len(queue)] == queue).all(), name
        assert got[8][expert].sum() == len(queue) and got[8][expert, : len(queue)].all(), name
        assert (got[6][expert, : len(queue)] == x[queue]).all() and not got[6][expert, len(queue) :].any(), name
    assert got[6].shape == (E, min(capacity, N), D), "the capacity ends at the tokens"
    assert k.read(total) == 5 + sum(max(0, len(q) - capacity) for q in queues), name
    for tensor in [*variables, *others, total, *kept_tensors]:
        k.release(tensor)


def check_routes(k):
    everyone, nobody = numpy.ones(N, bool), numpy.zeros(N, bool)
    some = RANDOM.uniform(size=N) < 0.7
    none = numpy.zeros((1, E), "float32")
    bias = RANDOM.normal(size=(1, E)).astype("float32")
    check(k, "all fit", 2, N, none, everyone)
    check(k, "more room than tokens", 2, 4 * N, bias, some)
    check(k, "drops", 2, 3, bias, everyone)
    check(k, "drops, some valid", 3, 4, bias, some)
    check(k, "one slot", 1, 1, none, everyone)
    check(k, "all experts", E, 7, none, some)
    check(k, "nobody", 2, 3, none, nobody)
    check(k, "ties go to the first", 2, N, none, everyone, numpy.full((N, E), 0.5, "float32"))


def check_one_program(k):
    """Whatever is chosen, the program is the same."""
    total = k.variable(numpy.zeros((N, W), "float32"))
    before = k.figures().programs
    for _ in range(6):
        arrays = [RANDOM.uniform(0, 1, (N, E)).astype("float32"), RANDOM.normal(size=(N, W)).astype("float32")]
        scores, x = (k.call("input", k.context, b"i", front.dtype_of(a), front.shape_of(a.shape),
                            ctypes.c_void_p(a.ctypes.data)) for a in arrays)
        r = models.route(k, scores, top=2, capacity=4)
        k.assign(total, k.call("combine", ctypes.byref(r), k.call("dispatch", ctypes.byref(r), x)))
        k.end()
    assert k.figures().programs == before + 1
    k.release(total)


def check_rows(k):
    for shape in [(N,), (N, 3), (N, 2, 2)]:
        for share in (0.0, 0.3, 1.0):
            for bound in (1, 6, N, 99):
                x = RANDOM.normal(size=shape).astype("float32")
                mask = RANDOM.uniform(size=N) < share
                tensors, rows = [k.variable(x), k.variable(mask)], models.Rows()
                out = k.call("rows_where", *tensors, ctypes.c_int64(bound), ctypes.byref(rows))
                kept = [k.keep(t) for t in (out, rows.is_row, rows.count, rows.left_out)]
                k.end()
                got, is_row, count, left_out = (k.read(t) for t in kept)
                size, wanted = min(bound, N), x[mask]
                assert got.shape == (size, *shape[1:]) and count == mask.sum()
                there = min(size, len(wanted))
                assert (got[:there] == wanted[:there]).all() and not got[there:].any()
                assert is_row.tolist() == [i < there for i in range(size)] and left_out == len(wanted) - there
                for tensor in [*tensors, *kept]:
                    k.release(tensor)


def refused(k, expected, function):
    function()
    try:
        k.end()
    except front.Error as error:
        assert expected in str(error) and "front.py:1: " in str(error), error
        return
    raise AssertionError(expected)


def check_refusals(k):
    scores, x = k.variable(numpy.ones((6, 4), "float32")), k.variable(numpy.ones((6, 2), "float32"))
    mask, short = k.variable(numpy.ones(6, bool)), k.variable(numpy.ones(5, bool))
    rows = lambda *a: k.call("rows_where", *a, None)  # noqa: E731
    refused(k, "how many rows of f32[6,2] the mask has is known on the device only, and a program has fixed shapes; "
            "give a bound above 0: [bound, ...] with the rest 0", lambda: rows(x, mask, ctypes.c_int64(0)))
    refused(k, "rows of f32[6,2] by bool[5]: a mask is bool[N]", lambda: rows(x, short, ctypes.c_int64(3)))
    refused(k, "f32[6,4] and bool[5]: valid tokens", lambda: models.route(k, scores, valid=short, top=2, capacity=3))
    refused(k, "f32[6,4] and f32[6,2]: what chooses", lambda: models.route(k, scores, x, top=2, capacity=3))
    refused(k, "bool[6] and bool[6]: scores are floats", lambda: models.route(k, mask, top=2, capacity=3))
    refused(k, "`top` is not a number of experts", lambda: models.route(k, scores, top=5, capacity=3))
    refused(k, "a capacity is above 0", lambda: models.route(k, scores, top=2, capacity=0))

    def wrong(name, tensor):
        r = models.route(k, scores, top=2, capacity=3)
        k.call(name, ctypes.byref(r), tensor)

    refused(k, "f32[4] and f32[6,4]: tokens are [N, d]", lambda: wrong("dispatch", k.variable(numpy.ones(4, "float32"))))
    refused(k, "f32[6,2] and bool[4,3]: what experts give", lambda: wrong("combine", x))
    k.c.keel_capacity.restype = ctypes.c_int64
    capacity = lambda n, e, top, f: k.c.keel_capacity(*map(ctypes.c_int64, (n, e, top)), ctypes.c_double(f))  # noqa: E731
    assert capacity(512, 8, 2, 1.25) == 160 and capacity(4096, 16, 4, 1.25) == 1280 and capacity(16384, 64, 6, 1.25) == 1920
    assert capacity(10, 4, 2, 1.0) == 8 and capacity(10, 4, 4, 9e9) == 10 and capacity(0, 1, 1, 1.0) == 0
    assert capacity(1, 1, 1, float("nan")) == 0 and capacity(1, 1, 1, -1.0) == 0


def main():
    k = front.Front(sys.argv[1])
    check_routes(k)
    check_one_program(k)
    check_rows(k)
    check_refusals(k)
    print("routes and rows are what loops give")


if __name__ == "__main__":
    main()
