#!/usr/bin/env python3
"""Random programs that carry numbers beside what is large through loops, branches, calls and
shard_map: what a rehearsal computes of them is what the devices compute.

Each number is made from others that the program carries, or from something that no rehearsal
computes (a product of matrices, a sum over devices). The script knows which; a number that depends on
none of the latter must be known, and every other one must read as the filling.
"""

import json
import sys

from harness import PYTHON, Report, Workspace
from stage import Stage

PROGRAMS = 24
CARRIED = r'''
import functools, json, random, sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

random.seed(int(sys.argv[1]))
SIDE = 512
COUNT = 5

def plan():
    """For each carried number: how it is made, and from which others."""
    rows = []
    for i in range(COUNT):
        others = random.sample(range(COUNT), random.choice((1, 1, 2)))
        rows.append((random.choice(("add", "multiply", "branch", "call", "loop", "remainder", "place",
                                    "large" if i % 2 else "add")), others, random.randint(1, 9)))
    return rows

def known(rows, across):
    """Which numbers depend on nothing large."""
    bad = {i for i, (how, _, _) in enumerate(rows) if how == "large" or (how == "place" and across)}
    while True:
        more = {i for i, (_, others, _) in enumerate(rows) if bad & set(others)} | bad
        if more == bad:
            return [i not in bad for i in range(COUNT)]
        bad = more

@jax.jit
def helper(a, b):
    return a * 3 + b, a - b

def make(row, numbers, w, axis):
    how, others, k = row
    a, b = numbers[others[0]], numbers[others[-1]]
    if how == "multiply":
        return a * k + b
    if how == "branch":
        return jax.lax.cond(jnp.sum(a) % 2 == 0, lambda a, b: a + k, lambda a, b: b - a, a, b)
    if how == "call":
        return helper(a, b)[k % 2]
    if how == "loop":
        return jax.lax.fori_loop(0, k, lambda i, c: (c[0] + i, c[1] + c[0]), (a, b))[1]
    if how == "remainder":
        return jnp.where(b % k > 0, a, a + b)
    if how == "place" and axis:
        return a + jax.lax.axis_index(axis)
    if how == "large":
        return a + (jnp.sum(w @ w) > 0).astype(a.dtype) + k
    return a + k + (0 if len(others) == 1 else b)

def step_of(rows, length, axis):
    def step(numbers, w):
        def body(carry, x):
            numbers, w = carry
            fresh = tuple(make(row, numbers, w, axis) for row in rows)
            return (fresh, jnp.tanh(w @ w)), fresh[0] + x
        (numbers, w), seen = jax.lax.scan(body, (numbers, w), jnp.arange(length, dtype=jnp.int32))
        return numbers, w, seen
    return step

answers = []
for number in range(int(sys.argv[2])):
    rows, length = plan(), random.randint(1, 4)
    kind = random.choice(("jit", "pmap", "map", "map2", "replicated"))
    shape = random.choice(((8,), (4, 8)) if kind == "pmap" else ((), (8,), (4, 8), (8, 4)))
    devices = np.array(jax.devices())
    axis = {"jit": None, "replicated": "x", "pmap": "x", "map": "x", "map2": "x"}[kind]
    step = step_of(rows, length, axis)
    numbers = tuple(jnp.arange(int(np.prod(shape)), dtype=jnp.int32).reshape(shape) % 7 + i for i in range(COUNT))
    w = jnp.eye(SIDE) * 0.5
    cuts = [P(), P("x"), P("y"), P(("x", "y")), P(("y", "x"))]
    if len(shape) > 1:
        cuts += [P(None, "x"), P("y", "x"), P(None, ("x", "y"))]
    cut = P("x") if shape and kind == "map" else random.choice(cuts) if shape and kind == "map2" else P()
    if kind == "jit":
        run = jax.jit(step, donate_argnums=0)
    elif kind == "pmap":
        run = jax.pmap(step, axis_name="x", donate_argnums=0)
        numbers = tuple(jnp.stack([n + d for d in range(4)]) for n in numbers)
        w = jnp.stack([w] * 4)
    else:
        mesh = Mesh(devices.reshape(2, 2) if kind == "map2" else devices, ("x", "y") if kind == "map2" else ("x",))
        specs = (cut,) * COUNT
        run = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(specs, P()), out_specs=(specs, P(), P(None, *cut)),
                                    check_vma=False), donate_argnums=0)
    seen = []
    for _ in range(3):
        numbers, w, more = run(numbers, w)
        seen.append([np.asarray(n).ravel().tolist() for n in (*numbers, more)])
    fine = known(rows, axis is not None)
    answers.append({"kind": kind, "rows": rows, "cut": str(cut), "known": [*fine, fine[0]], "seen": seen})
print(json.dumps(answers))
'''


def check(report, stage, seed):
    stage.script("carried.py", CARRIED)
    words = ("carried.py", str(seed), str(PROGRAMS))
    real = stage.keel("run", "--cpu-devices", "4", "--", PYTHON, *words)
    told = stage.rehearse("cpu:4", *words, options=("--compile", "none", "--values", "ones"))
    if real.code or told.code:
        report.check("the programs run", False, real.err[-2000:] + told.err[-2000:])
        return
    differing, unknown, fillings, computed = [], [], 0, 0
    for before, after in zip(json.loads(real.out), json.loads(told.out)):
        for step, (x, y) in enumerate(zip(before["seen"], after["seen"])):
            for at, (a, b) in enumerate(zip(x, y)):
                place = f"{before['kind']} {before['cut']} {before['rows']}, step {step}, number {at}"
                if before["known"][at] and a == b:
                    computed += 1
                elif set(b) <= {1}:
                    fillings += 1
                    if before["known"][at]:
                        unknown.append(place)
                elif a != b:
                    differing.append(f"{place}: {a[:8]} on the devices, {b[:8]} in the rehearsal")
    report.check(f"what is computed is what the devices compute, seed {seed}", not differing, "\n".join(differing[:9]))
    report.check(f"what depends on nothing large is computed, seed {seed}", not unknown, "\n".join(unknown[:9]))
    report.check(f"there are numbers of both kinds, seed {seed}", computed > PROGRAMS and fillings > PROGRAMS,
                 f"{computed} computed, {fillings} filled in")


with Workspace("carried") as space:
    report = Report()
    for seed in [int(word) for word in sys.argv[1:]] or [1, 2]:
        check(report, Stage(space, f"seed-{seed}"), seed)
report.finish()
