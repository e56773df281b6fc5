# cause: stable
# reason: filter_vmap over seeds makes and runs an ensemble

import equinox as eqx
import jax
import numpy as np


@eqx.filter_vmap
def make_ensemble(key):
    return eqx.nn.MLP(3, 1, 4, 1, key=key)


@eqx.filter_jit
@eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
def evaluate(model, x):
    return jax.vmap(model)(x)


ensemble = make_ensemble(jax.random.split(jax.random.key(0), 4))
for _ in range(3):
    y = evaluate(ensemble, np.ones((5, 3), np.float32))
print(y.shape)
