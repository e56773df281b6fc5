"""Generated shardings that name axes, as XLA's compilers write them: what Keel reads in them is
XLA's own view, which jaxlib has.

Usage: views.py TELL_SHARDINGS COUNT
"""

import itertools
import math
import random
import subprocess
import sys

import numpy as np
from jax._src.lib import xla_client

TELL, COUNT = sys.argv[1], int(sys.argv[2])
Type = xla_client.OpSharding.Type


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def message(field, contents):
    return varint(field << 3 | 2) + varint(len(contents)) + contents


def packed(field, values):
    return message(field, b"".join(map(varint, values)))


def reference(axis, before, size, whole):
    sub = message(2, number(1, before) + number(2, size)) if (before, size) != (1, whole) else b""
    return number(1, axis) + sub


def pieces_of(draw, sizes):
    """Every axis, whole or in parts."""
    for axis, size in enumerate(sizes):
        cuts = [1, size]
        if size > 3 and draw.random() < 0.5:
            cuts.insert(1, draw.choice([n for n in range(2, size) if size % n == 0]))
        for before, end in itertools.pairwise(cuts):
            yield axis, before, end // before, size


def mesh_of(draw, sizes):
    contents = b"".join(message(1, message(1, f"axis{i}".encode()) + number(2, size))
                        for i, size in enumerate(sizes))
    devices = list(range(math.prod(sizes)))
    order = draw.choice(("plain", "listed", "transposed"))
    if order == "listed":
        draw.shuffle(devices)
        if devices != sorted(devices):
            contents += packed(2, devices)
    elif order == "transposed":
        permutation = list(range(len(sizes)))
        draw.shuffle(permutation)
        if permutation != sorted(permutation):
            contents += message(3, packed(1, sizes) + packed(2, permutation))
    return contents


def make(draw):
    """A rank, a number of devices and a sharding."""
    sizes = [draw.choice((1, 2, 2, 3, 4, 8)) for _ in range(draw.randint(0, 3))] + [2]
    draw.shuffle(sizes)
    while math.prod(sizes) > 64:
        sizes.pop()
    rank = draw.randint(0, 4)
    dimensions, others = [[] for _ in range(rank)], {4: [], 5: [], 7: []}
    pieces = list(pieces_of(draw, sizes))
    draw.shuffle(pieces)
    uses_others = draw.random() < 0.3
    for piece in pieces:
        place = draw.random()
        if rank and place < 0.6:
            dimensions[draw.randrange(rank)].append(piece)
        elif place < 0.8 and uses_others:
            others[draw.choice((4, 5, 7))].append(piece)
    contents = message(2, mesh_of(draw, sizes))
    for axes in dimensions:
        contents += message(3, b"".join(message(1, reference(*piece)) for piece in joined(axes)))
    for field, axes in others.items():
        contents += b"".join(message(field, reference(*piece)) for piece in joined(sorted(axes)))
    return rank, math.prod(sizes), message(14, contents)


def joined(pieces):
    """Parts of an axis that follow each other are written as one."""
    out = []
    for axis, before, size, whole in pieces:
        if out and out[-1][0] == axis and out[-1][1] * out[-1][2] == before:
            out[-1] = (axis, out[-1][1], out[-1][2] * size, whole)
        else:
            out.append((axis, before, size, whole))
    return out


def wanted_of(rank, devices, encoded):
    """XLA's view, in tell_shardings' words."""
    proto = xla_client.OpSharding()
    proto.ParseFromString(encoded)
    sharding = xla_client.HloSharding.v3_to_v2_sharding(xla_client.HloSharding.from_proto(proto))
    kinds = sharding.subgroup_types()
    if sharding.is_replicated() or sharding.is_manual() or sharding.is_unreduced():
        tiles, order = [1] * rank, None
    else:
        tiles, order = sharding.tile_assignment_dimensions(), sharding.tile_assignment_devices()
    if not rank:
        places = []
    elif sharding.is_manual():
        places = ["nowhere"]
    elif order is None:
        places = [",".join("0" * rank)] * devices
    else:
        places = [""] * devices
        for device, at in zip(order, np.ndindex(*tiles)):
            places[device] = ",".join(map(str, at[:rank]))
    shares = ["shares"] * (sharding.is_unreduced() or Type.UNREDUCED in kinds)
    return " ".join([*map(str, tiles[:rank]), "at", *shares, *places])


draw = random.Random(11)
cases = [make(draw) for _ in range(COUNT)]
wanted = [wanted_of(*case) for case in cases]
lines = "".join(f"{rank} {devices} {encoded.hex()}\n" for rank, devices, encoded in cases)
told = subprocess.run([TELL], input=lines, capture_output=True, text=True, check=True).stdout.split("\n")
wrong = [(case, a.strip(), b) for case, a, b in zip(cases, told, wanted) if a.split() != b.split()]
for (rank, devices, encoded), a, b in wrong[:10]:
    proto = xla_client.OpSharding()
    proto.ParseFromString(encoded)
    print(f"rank {rank}, {devices} devices, {xla_client.HloSharding.from_proto(proto)}\n  keel: {a}\n  XLA:  {b}")
shares = sum("shares" in line for line in wanted)
print(f"{COUNT - len(wrong)} of {COUNT} shardings are read as XLA reads them ({shares} of shares of sums)")
sys.exit(bool(wrong) or len(told) != COUNT + 1 or not shares)
