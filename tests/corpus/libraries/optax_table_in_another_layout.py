# cause: layout
# subject: table
# old: unset
# new: {0,1}
# reason: a table of embeddings is put on the device with its columns together

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.experimental.layout import Format, Layout


@jax.jit
def nearest(table, queries):
    scores = optax.losses.cosine_similarity(queries[:, None], table[None], epsilon=1e-6)
    return jnp.argmax(scores, axis=-1)


table = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
queries = np.ones((3, 4), np.float32)
device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
rows = jax.device_put(table, device)
columns = jax.device_put(table, Format(Layout((1, 0)), device))
for stored in (rows, rows, columns):
    nearest(stored, queries)  # <- cause
