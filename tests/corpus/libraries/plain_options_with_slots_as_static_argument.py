# cause: constant
# subject: options.margin
# old: 0.5
# new: 1.5
# reason: the options are a frozen dataclass with slots, and the margin of the second run is larger

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    margin: float = 0.5
    squared: bool = False


@functools.partial(jax.jit, static_argnames="options")
def triplet_loss(anchor, near, far, options):
    def distance(a, b):
        return jnp.sum((a - b) ** 2, axis=-1)

    hinge = jax.nn.relu(distance(anchor, near) - distance(anchor, far) + options.margin)  # <- cause
    return jnp.mean(hinge ** 2 if options.squared else hinge)


rows = np.ones((5, 3), np.float32)
for options in (Options(), Options(), Options(margin=1.5)):
    triplet_loss(rows, 2 * rows, 3 * rows, options=options)  # <- call
