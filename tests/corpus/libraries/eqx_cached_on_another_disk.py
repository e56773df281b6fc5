# cause: cache
# advice: keel cache stat
# program: jit_embed
# run: cache=home
# run: cache=scratch
# reason: the second job has its cache on a disk that is empty

import equinox as eqx
import jax
import numpy as np

network = eqx.filter_jit(eqx.nn.MLP)(3, 2, 4, 2, key=jax.random.key(0))
arrays, static = eqx.partition(network, eqx.is_array)


@jax.jit
def embed(arrays, x):
    return jax.vmap(eqx.combine(arrays, static))(x)


for _ in range(2):
    embed(arrays, np.ones((4, 3), np.float32))  # <- cause
