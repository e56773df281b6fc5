# cause: shape
# subject: batch['image']
# old: f32[8,6]
# new: f32[4,6]

import jax
import jax.numpy as jnp
import numpy as np


def loader(count, size):
    for start in range(0, count, size):
        rows = min(size, count - start)
        yield {"image": np.ones((rows, 6), np.float32), "label": np.zeros(rows, np.int32)}


def loss(w, batch):
    scores = jax.nn.log_softmax(batch["image"] @ w)
    return -jnp.mean(jnp.take_along_axis(scores, batch["label"][:, None], axis=1))


@jax.jit
def step(w, batch):
    return w - 0.1 * jax.grad(loss)(w, batch)


w = np.ones((6, 3), np.float32)
for batch in loader(28, 8):
    w = step(w, batch)  # <- cause
