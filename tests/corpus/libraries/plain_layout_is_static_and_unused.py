# cause: retrace
# subject: layout
# old: P('data',)
# new: P('model',)
# advice: Leave it out of the call
# program: jit_scale

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


@partial(jax.jit, static_argnames="layout")
def scale(x, layout):
    return x * 0.5


for layout in (P("data"), P("model")):
    scale(jnp.ones((4, 4)), layout=layout)  # <- cause
