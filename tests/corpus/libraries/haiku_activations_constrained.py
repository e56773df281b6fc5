# cause: sharding
# subject: with_sharding_constraint
# old: P('data', None)
# new: P('data', 'model')
# reason: the second layout of the mesh spreads the hidden units too

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))
x = jax.device_put(np.ones((4, 6), np.float32), NamedSharding(mesh, P("data", None)))


def make_loss(spec):
    def forward(x):
        hidden = jax.nn.relu(hk.Linear(8)(x))
        hidden = jax.lax.with_sharding_constraint(hidden, NamedSharding(mesh, spec))  # <- cause
        return hk.Linear(2)(hk.LayerNorm(-1, True, True)(hidden))

    net = hk.without_apply_rng(hk.transform(forward))

    def loss(params, x):
        return jnp.mean(net.apply(params, x) ** 2)

    return net.init, jax.jit(loss)


init, _ = make_loss(P("data", None))
params = jax.jit(init, out_shardings=NamedSharding(mesh, P()))(jax.random.key(0), x)
for spec in (P("data", None), P("data", "model")):
    _, loss = make_loss(spec)
    for _ in range(2):
        loss(params, x)  # <- call
