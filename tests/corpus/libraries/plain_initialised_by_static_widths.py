# cause: size
# reason: the widths of the layers are a static tuple, and the second network is wider; what is drawn has that size

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def initialise(key, widths):
    params = []
    for inputs, outputs in zip(widths, widths[1:]):
        key, draw = jax.random.split(key)
        params.append({"w": jax.random.normal(draw, (inputs, outputs)), "b": jnp.zeros(outputs)})  # <- cause
    return params


for widths in ((4, 8, 2), (4, 24, 2)):
    params = initialise(np.array([0, 1], np.uint32), widths)  # <- call
    print([layer["w"].shape for layer in params])
