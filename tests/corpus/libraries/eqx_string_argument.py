# cause: structure
# subject: pool
# old: 'sum'
# new: 'max'

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

POOLS = {"sum": jnp.sum, "max": jnp.max}


class Pooled(eqx.Module):
    linear: eqx.nn.Linear

    def __call__(self, x, pool):
        hidden = jax.vmap(self.linear)(x)
        return POOLS[pool](hidden, axis=0)  # <- cause


@eqx.filter_jit
def embed(model, x, pool):
    return model(x, pool)


model = Pooled(eqx.nn.Linear(4, 2, key=jax.random.key(0)))
x = np.ones((3, 4), np.float32)
embed(model, x, "sum")
embed(model, x, "max")  # <- call
