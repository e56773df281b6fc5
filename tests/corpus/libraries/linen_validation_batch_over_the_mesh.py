# cause: sharding
# subject: x
# old: P()
# new: P('data', None)
# reason: validation began with a replicated batch; later ones are spread over the devices

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4,), ("data",))
everywhere = NamedSharding(mesh, P())
model = nn.Sequential([nn.Dense(16), nn.relu, nn.Dense(1)])


@jax.jit
def validate(params, x):
    return jnp.mean(model.apply(params, x) ** 2)


class Prefetch:
    def __init__(self, batches, spec):
        self.batches, self.sharding = batches, NamedSharding(mesh, spec)

    def __iter__(self):
        for batch in self.batches:
            yield jax.device_put(batch, self.sharding)


rng = np.random.default_rng(0)
batches = [rng.normal(size=(8, 6)).astype(np.float32) for _ in range(2)]
params = jax.jit(model.init, out_shardings=everywhere)(jax.random.key(0), batches[0])
for spec in (P(), P("data", None)):
    for x in Prefetch(batches, spec):
        loss = validate(params, x)  # <- cause
    print(spec, float(loss))
