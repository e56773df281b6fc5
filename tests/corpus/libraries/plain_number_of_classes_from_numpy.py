# cause: constant
# subject: classes
# old: 3
# new: 4
# advice: array argument | one of few
# reason: np.unique counts, and its int64 is a static argument

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=2)
def smoothed_loss(logits, labels, classes):
    targets = 0.9 * jax.nn.one_hot(labels, logits.shape[1]) + 0.1 / classes  # <- cause
    return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(logits), axis=1))


rng = np.random.default_rng(0)
for fold, labels in enumerate(([0, 1, 2, 1], [2, 1, 0, 2], [3, 0, 1, 2])):
    labels = np.asarray(labels, np.int32)
    classes = np.max(np.unique(labels)) + np.int64(1)
    smoothed_loss(rng.normal(size=(4, 5)).astype(np.float32), labels, classes)  # <- call
