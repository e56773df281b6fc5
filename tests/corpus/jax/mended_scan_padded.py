# cause: none
# reason: advice of a loop's bound, of a scan: pad to one length and mask

import jax
import jax.numpy as jnp
import numpy as np

LONGEST = 6


@jax.jit
def step(x, n):
    def body(carry, i):
        carry = jnp.where(i < n, jnp.tanh(carry), carry)
        return carry, carry.sum()

    return jax.lax.scan(body, x, jnp.arange(LONGEST))


x = np.ones((8, 4), np.float32)
step(x, np.int32(4))
step(x, np.int32(6))
