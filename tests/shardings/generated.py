"""Arrays of generated meshes and shardings go through programs that say nothing about their results.
Each result is held against JAX's own view of it, part by part, and then computed with.

Usage: generated.py MESHES ARRAYS [WITHOUT...]

WITHOUT names kinds of programs that are left out: the embedded plugin may cut an axis where it
splits a dimension, which JAX cannot express.

It runs by itself on 8 devices, and under `keel rehearse`: values and places are the same.
"""

import collections
import itertools
import math
import random
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

MESHES, ARRAYS = int(sys.argv[1]), int(sys.argv[2])
SIZES = [(8,), (2, 4), (4, 2), (1, 8), (2, 2, 2), (2, 1, 4)]


def make_mesh(random):
    """A mesh of all devices, whose order may be any."""
    sizes = random.choice(SIZES)
    devices = jax.devices()[:8]
    if random.random() < 0.5:
        random.shuffle(devices)
    return Mesh(np.array(devices).reshape(sizes), tuple("abcd"[:len(sizes)]))


def make_spec(random, mesh, rank):
    """Each axis cuts some dimension or none; of two that cut the same, either comes first."""
    cuts = collections.defaultdict(list)
    for axis in random.sample(mesh.axis_names, len(mesh.axis_names)):
        if random.random() < 0.7:
            cuts[random.randrange(rank)].append(axis)
    return P(*(tuple(cuts[i]) or None for i in range(rank)))


def constrained(x, mesh, spec, of):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec)) if of is jnp else x


def split_axis(x, of):
    """Half of a dimension: what cuts it in 4 or 8 cuts two dimensions now."""
    return x.reshape((2, x.shape[0] // 2) + x.shape[1:]) * 2


# What is done with an array, in JAX (of = jnp) and in NumPy (of = np).
KINDS = {
    "map": lambda x, mesh, spec, of: x * 3 + 1,
    "transpose": lambda x, mesh, spec, of: x.T + 1,
    "sum": lambda x, mesh, spec, of: x.sum(axis=0),
    "sum of all": lambda x, mesh, spec, of: x.sum(),
    "split": lambda x, mesh, spec, of: split_axis(x, of),
    "merge": lambda x, mesh, spec, of: x.reshape((x.shape[0] * x.shape[1],) + x.shape[2:]) + 2,
    "product": lambda x, mesh, spec, of: of.tensordot(x, x.T, axes=1),
    "slice": lambda x, mesh, spec, of: x[1:] - 1,
    "join": lambda x, mesh, spec, of: of.concatenate([x, x + 1], axis=-1),
    "broadcast": lambda x, mesh, spec, of: of.broadcast_to(x, (4,) + x.shape) + 1,
    "constrained": lambda x, mesh, spec, of: constrained(x + 1, mesh, spec, of) * 2,
    "made": lambda x, mesh, spec, of: constrained(
        of.arange(math.prod(x.shape), dtype=np.int32).reshape(x.shape), mesh, spec, of),
}


def make_case(random, mesh):
    kind = random.choice([kind for kind in KINDS if kind not in sys.argv[3:]])
    rank = random.randint(2 if kind == "merge" else 1, 3)
    shape = tuple(random.choice((8, 16)) for _ in range(rank))
    values = np.arange(math.prod(shape), dtype=np.int32).reshape(shape) % 97
    return kind, values, make_spec(random, mesh, rank), make_spec(random, mesh, rank)


def problem_of(result, wanted):
    """What is wrong with an array, by JAX's own view of it; None if nothing is."""
    indices = result.sharding.devices_indices_map(result.shape)
    for shard in result.addressable_shards:
        part = wanted[indices[shard.device]]
        if shard.data.shape != part.shape:
            return f"{shard.data.shape} on {shard.device}, not {part.shape}"
        if not np.array_equal(np.asarray(shard.data), part):
            return f"another part on {shard.device}, not {indices[shard.device]}"
    return None if np.array_equal(np.asarray(result), wanted) else "other values"


def check_mesh(number):
    draw = random.Random(number)
    mesh = make_mesh(draw)
    cases = [make_case(draw, mesh) for _ in range(ARRAYS)]
    given = [jax.device_put(values, NamedSharding(mesh, spec)) for _, values, spec, _ in cases]
    made = jax.jit(lambda *arrays: tuple(
        KINDS[kind](x, mesh, inner, jnp) for x, (kind, _, _, inner) in zip(arrays, cases)))(*given)
    used = jax.jit(lambda *arrays: tuple((x * 2).sum() + x for x in arrays))(*made)
    for (kind, values, spec, inner), result, more in zip(cases, made, used):
        wanted = np.asarray(KINDS[kind](values, mesh, inner, np), np.int32)
        further = ((wanted * 2).sum() + wanted).astype(np.int32)
        problem = problem_of(result, wanted) or problem_of(more, further)
        if problem:
            yield (f"mesh {number} {dict(mesh.shape)} {[d.id for d in mesh.devices.flat]}, {kind} of "
                   f"{values.shape} {spec} and {inner}: {result.sharding}: {problem}")


problems = list(itertools.chain.from_iterable(map(check_mesh, range(MESHES))))
for problem in problems[:20]:
    print(problem)
print(f"{MESHES * ARRAYS - len(problems)} of {MESHES * ARRAYS} results are as JAX sees them")
