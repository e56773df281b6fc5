# cause: retrace
# advice: same keys
# reason: the name of the network is the first part of the parameters' keys; what is computed stays

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


network = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([6, 2], name="policy")(x)))


@jax.jit
def norm(params):
    return jnp.sqrt(sum(jnp.sum(p ** 2) for p in jax.tree.leaves(params)))


policy = jax.jit(network.init)(jax.random.key(0), np.ones((3, 4), np.float32))
target = {name.replace("policy", "target"): dict(layer) for name, layer in policy.items()}
norms = {}
for name, params in (("policy", policy), ("again", policy), ("target", target)):
    norms[name] = float(norm(params))  # <- cause
