# cause: none
# reason: a read between two calls cuts nothing: what is jitted is one program

import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w), jnp.mean(x @ w)


w, x = jnp.ones((4, 4)), jnp.ones((8, 4))
for _ in range(4):
    w, loss = step(w, x)
    print(float(loss))  # <- read
