# program: jit_loss
# cause: shape
# subject: tokens
# old: i32[8,9]
# new: i32[8,12]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def loss(table, tokens):
    logits = table[tokens[:, :-1]]
    targets = tokens[:, 1:]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], axis=-1)
    return -chosen.mean()


table = np.ones((16, 16), np.float32)
loss(table, np.zeros((8, 9), np.int32))
loss(table, np.zeros((8, 12), np.int32))  # <- cause
