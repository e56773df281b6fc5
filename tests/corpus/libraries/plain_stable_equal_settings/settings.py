import typing

import numpy as np


class Settings(typing.NamedTuple):
    norm: str = "l1"
    layers: tuple = (3, 3)


def for_epoch(epoch):
    return np.float32(0.5 / (1 + epoch)), Settings(layers=tuple([3, 3]))
