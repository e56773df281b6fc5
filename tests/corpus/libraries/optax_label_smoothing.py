# cause: constant
# reason: the factor is closed over: one minus it and its share of a class are baked in

import jax
import jax.numpy as jnp
import numpy as np
import optax


def make_loss(smoothing):
    @jax.jit
    def loss(logits, labels):
        targets = jax.nn.one_hot(labels, 4)
        targets = optax.smooth_labels(targets, smoothing)  # <- cause
        return optax.softmax_cross_entropy(logits, targets).mean()

    return loss


logits, labels = np.ones((6, 4), np.float32), np.arange(6, dtype=np.int32) % 4
for smoothing in (0.1, 0.2):
    make_loss(smoothing)(logits, labels)  # <- call
