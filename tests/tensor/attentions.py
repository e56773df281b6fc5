#!/usr/bin/env python3
"""Each form of attention, and its gradients, beside the formula in JAX.

Usage: tests/tensor/attentions.py LIBKEEL
"""

import itertools
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import front  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import models  # noqa: E402
import numpy  # noqa: E402

RANDOM = numpy.random.default_rng(5)
B, T, S, H, h, e = 2, 12, 12, 6, 8, 5


def formula(q, k, v, mask, scale, softcap, causal, window):
    r = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, r, axis=2), jnp.repeat(v, r, axis=2)
    scores = jnp.einsum("bthd,bshd->bhts", q, k, precision="highest") * (scale or q.shape[3] ** -0.5)
    if softcap:
        scores = softcap * jnp.tanh(scores / softcap)
    t, s = jnp.arange(q.shape[1])[:, None], jnp.arange(k.shape[1])
    seen = jnp.ones((1, q.shape[1], k.shape[1]), bool) if mask is None else mask
    if causal:
        seen = seen & (t >= s)
    if window:
        seen = seen & (t - s < window)
    p = jax.nn.softmax(jnp.where(seen[:, None], scores, -1e30), axis=-1)
    return jnp.einsum("bhts,bshe->bthe", p, v, precision="highest")


def close(what, ours, theirs, tolerance):
    apart = numpy.abs(ours - theirs).max() / numpy.abs(theirs).max()
    assert ours.shape == theirs.shape and apart <= tolerance, f"{what}: {apart:.3g} apart"


def make_case(groups, is_masked, options):
    keys = T if options["causal"] else S + 6
    arrays = [RANDOM.normal(size=shape).astype("float32")
              for shape in [(B, T, H, h), (B, keys, groups, h), (B, keys, groups, e)]]
    mask = RANDOM.uniform(size=(B, T, keys)) < 0.6 if is_masked else None
    if is_masked:
        mask[0, 3] = False  # sees nothing
    return {"arrays": arrays, "mask": mask, "weights": RANDOM.normal(size=(B, T, H, e)).astype("float32"),
            "options": options, "groups": groups, "keys": keys}


def expect(cases):
    """The value and the gradients of each, as one program: compiling is what takes time."""
    def one(case, arrays):
        value = formula(*arrays, case["mask"], **case["options"])
        return value, jax.grad(lambda *a: jnp.sum(formula(*a, case["mask"], **case["options"]) * case["weights"]),
                               (0, 1, 2))(*arrays)

    everything = jax.jit(lambda all_arrays: [one(c, a) for c, a in zip(cases, all_arrays)])
    return [[value, *gradients] for value, gradients in everything([c["arrays"] for c in cases])]


def trace(k, case, form):
    """Kept tensors: the result and its gradients."""
    variables, weights = [k.variable(a) for a in case["arrays"]], k.variable(case["weights"])
    mask = None if case["mask"] is None else k.variable(case["mask"])
    out, text = models.attention(k, *variables, mask, **form, **case["options"])
    loss = k.reduce("SUM", k.binary("MULTIPLY", out, weights), range(4))
    words = [form["form"].lower(), f"{T} queries x {case['keys']} keys", f"{H} heads on {case['groups']}", "front.py:1: "]
    words += ["causal"] * case["options"]["causal"] + ["masked"] * (mask is not None)
    words += [f"window {case['options']['window']}"] * bool(case["options"]["window"])
    assert all(word in text for word in words), text
    return [k.keep(x) for x in (out, *k.gradients(loss, variables))]


def check(k, cases, forms):
    kept = [(case, form, trace(k, case, form)) for form in forms for case in cases]
    k.end()
    for (case, form, tensors), expected in zip(kept, expect(cases) * len(forms)):
        name = f"{form}, {case['options']}, {case['groups']} groups, mask {case['mask'] is not None}"
        for place, (ours, theirs) in enumerate(zip(tensors, expected)):
            close(f"{name}: {place}", k.read(ours), numpy.asarray(theirs), 1e-4 if place else 1e-5)


def check_bf16(k):
    """Both forms of small floats, beside f32."""
    arrays = [RANDOM.normal(size=(B, T, 2, h)).astype("bfloat16") for _ in range(3)]
    variables = [k.variable(a) for a in arrays]
    expected = formula(*(a.astype("float32") for a in arrays), None, 0, 0, True, 0)
    for form in ({"form": "DENSE"}, {"form": "BLOCKED", "block": 4}):
        got = k.read(models.attention(k, *variables, causal=True, **form)[0])
        assert str(got.dtype) == "bfloat16"
        close(f"bf16 {form}", got.astype("float32"), numpy.asarray(expected), 2**-6)
    for tensor in variables:
        k.release(tensor)
    k.end()


def refused(k, expected, *arrays, **options):
    mask = options.pop("mask", None)
    tensors = [k.variable(a) for a in arrays] + ([k.variable(mask)] if mask is not None else [])
    out, text = models.attention(k, *tensors, **options)
    try:
        k.end()
    except front.Error as error:
        assert expected in str(error) and "front.py:1: attention" in str(error), error
        assert k.c.keel_is_empty(out) and not text
        return
    raise AssertionError(expected)


def check_refusals(k):
    def x(*shape, dtype="float32"):
        return numpy.ones(shape, dtype)

    q, kv = x(2, 6, 4, 3), x(2, 6, 2, 3)
    refused(k, "f32[2,6,4,3] and f32[2,6,3,3]: the heads of the queries are not a multiple", q, x(2, 6, 3, 3), x(2, 6, 3, 3))
    refused(k, "f32[2,6,4,3] and f32[2,6,2,4]: queries are", q, x(2, 6, 2, 4), x(2, 6, 2, 4))
    refused(k, "f32[6,4,3] and f32[2,6,2,3]: queries are", x(6, 4, 3), kv, kv)
    refused(k, "f32[2,6,2,3] and f32[2,5,2,3]: values are", q, kv, x(2, 5, 2, 3))
    refused(k, "f32[2,6,4,3] and bf16[2,6,2,3]: queries, keys and values have one dtype", q, kv, kv.astype("bfloat16"))
    refused(k, "f32[2,6,4,3] and bool[6,6]: a mask is bool[B, T, S]", q, kv, kv, mask=x(6, 6, dtype="bool"))
    refused(k, "a mask is bool", q, kv, kv, mask=x(2, 6, 6))
    refused(k, "f32[2,6,4,3] and f32[2,7,2,3]: causal attention has as many queries", q, x(2, 7, 2, 3), x(2, 7, 2, 3), causal=True)
    refused(k, "a window is of causal attention", q, kv, kv, window=2)
    refused(k, "a window is not negative", q, kv, kv, causal=True, window=-1)
    refused(k, "blocks of 4 do not divide 6 keys; pad the keys and mask them", q, kv, kv, form="BLOCKED", block=4)
    refused(k, "blocks of 0 do not divide", q, kv, kv, form="BLOCKED")
    refused(k, "there are no keys", q, x(2, 0, 2, 3), x(2, 0, 2, 3))


def main():
    k = front.Front(sys.argv[1])
    forms = [{"form": "DENSE"}, {"form": "BLOCKED", "block": 6}]
    places = [(2, *place) for place in itertools.product((False, True), ((False, 0), (True, 0), (True, 4)), (0.0, 3.0))]
    places += [(1, False, (True, 0), 0.0), (6, True, (True, 4), 3.0)]
    cases = [make_case(groups, is_masked, {"causal": causal, "window": window, "softcap": softcap,
                                           "scale": 0.3 if softcap else 0.0})
             for groups, is_masked, (causal, window), softcap in places]
    check(k, cases, forms)
    check_bf16(k)
    check_refusals(k)
    print(f"{len(cases) * len(forms)} attentions and their gradients are what JAX computes")


if __name__ == "__main__":
    main()
