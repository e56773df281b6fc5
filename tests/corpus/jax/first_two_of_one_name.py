# cause: first
# program: jit_update
# reason: one function defined two functions of one name

import jax
import jax.numpy as jnp
import numpy as np


def main(x):
    @jax.jit
    def update(x):
        return jnp.cos(x) + 2

    first = update

    @jax.jit
    def update(x):
        return jnp.sum(x * 5) - 2

    first(x)
    return update(x)  # <- cause


main(np.ones(8, np.float32))  # <- call
