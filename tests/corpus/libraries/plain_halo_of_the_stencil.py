# cause: size
# old: 1
# new: 2
# reason: a wider stencil needs more of the neighbours' cells; how many is a Python number

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("x",))


def make_smooth(halo):
    @jax.jit
    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    def smooth(cells):
        right = [(i, (i + 1) % 4) for i in range(4)]
        left = [(j, i) for i, j in right]
        before = jax.lax.ppermute(cells[-halo:], "x", right)  # <- cause
        after = jax.lax.ppermute(cells[:halo], "x", left)
        padded = jnp.concatenate([before, cells, after])
        return jnp.convolve(padded, jnp.ones(2 * halo + 1), mode="valid") / (2 * halo + 1)

    return smooth


cells = np.linspace(0, 1, 24, dtype=np.float32)
for halo in (1, 2):
    smooth = make_smooth(halo)
    for _ in range(2):
        smooth(cells)  # <- call
