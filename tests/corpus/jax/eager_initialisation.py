# cause: size
# advice: jax.jit(init)
# program: jit__uniform
# reason: each array is made by programs of its own; the values are those of the last two

import jax

key = jax.random.key(0)
for size in (7, 12, 20, 33, 48, 64, 97, 131, 260, 392):
    weights = jax.random.uniform(key, (size,))  # <- cause
