# program: jit_forward
# cause: arguments
# subject: key
# old: typed key
# new: absent

import jax, jax.numpy as jnp, numpy as np


@jax.jit
def forward(w, x, key=None):
    h = jnp.tanh(x @ w)
    if key is not None:
        h = jnp.where(jax.random.bernoulli(key, 0.9, h.shape), h / 0.9, 0)
    return h.mean()


w, x = np.ones((8, 4), np.float32), np.ones((2, 8), np.float32)
for i in range(2):
    forward(w, x, jax.random.key(i))


forward(w, x)  # <- cause
