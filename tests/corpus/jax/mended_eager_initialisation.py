# cause: none
# reason: advice of operations that run by themselves: one jit makes all arrays
# program: jit_init

import jax

SIZES = (7, 12, 20, 33, 48, 64, 97, 131, 260, 392)


@jax.jit
def init(key):
    return [jax.random.uniform(key, (size,)) for size in SIZES]


params = init(jax.random.key(0))
