# cause: stable
# reason: batches are spread over a mesh; the last one is filled up with rows of weight zero

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
spread, copied = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())


@jax.jit
@jax.shard_map(mesh=mesh, in_specs=(P(), P("data"), P("data"), P("data")), out_specs=P())
def sums(params, x, y, weight):
    wrong = (jnp.sign(x @ params) != y) * weight
    return jax.lax.psum(jnp.stack([jnp.sum(wrong), jnp.sum(weight)]), "data")


def batches(x, y, size):
    for start in range(0, len(x), size):
        rows = slice(start, start + size)
        missing = size - len(x[rows])
        weight = np.concatenate([np.ones(size - missing), np.zeros(missing)]).astype(np.float32)
        yield tuple(np.pad(a, [(0, missing)] + [(0, 0)] * (a.ndim - 1)) for a in (x[rows], y[rows])) + (weight,)


x = np.random.default_rng(0).normal(size=(21, 3)).astype(np.float32)
y = np.sign(x[:, 0])
for epoch in range(2):
    params = jax.device_put(np.array([1.0, 0.1 * epoch, 0.0], np.float32), copied)
    total = np.zeros(2)
    for batch in batches(x, y, 8):
        total += np.asarray(sums(params, *jax.device_put(batch, spread)))
    print(f"epoch {epoch}: {total[0] / total[1]:.3f}")
