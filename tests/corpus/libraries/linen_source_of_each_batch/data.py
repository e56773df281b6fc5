import numpy as np
from flax import struct


@struct.dataclass
class Batch:
    x: np.ndarray
    y: np.ndarray
    source: str = struct.field(pytree_node=False, default="")


def shards(count):
    for number in range(count):
        rng = np.random.default_rng(number)
        yield f"part-{number:05d}.tfrecord", rng.normal(size=(12, 4)).astype(np.float32)


def batches(name, rows, size=6):
    for at in range(0, len(rows), size):
        piece = rows[at:at + size]
        yield Batch(x=piece, y=piece.sum(-1, keepdims=True), source=name)
