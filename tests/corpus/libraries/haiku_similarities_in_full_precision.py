# cause: precision
# old: unset
# new: 'highest'
# reason: the final search is done under a context manager; the encoder is another function

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def encoder(x):
    return hk.nets.MLP([16, 8])(x)


net = hk.without_apply_rng(hk.transform(encoder))
encode = jax.jit(net.apply)


@jax.jit
def nearest(queries, index):
    queries = queries / jnp.linalg.norm(queries, axis=-1, keepdims=True)
    scores = jnp.einsum("qd,nd->qn", queries, index)  # <- cause
    return jnp.argmax(scores, axis=-1)


rng = np.random.default_rng(0)
params = jax.jit(net.init)(jax.random.PRNGKey(0), np.zeros((4, 10), np.float32))
index = rng.normal(size=(20, 8)).astype(np.float32)
for _ in range(3):
    queries = encode(params, rng.normal(size=(4, 10)).astype(np.float32))
    found = nearest(queries, index)
with jax.default_matmul_precision("highest"):
    found = nearest(queries, index)  # <- call
print(np.asarray(found))
