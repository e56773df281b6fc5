# cause: dtype
# subject: labels
# old: i32[6]
# new: u8[6]

import flax.linen as nn
import jax
import numpy as np
import optax


class Linear(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(x)


model = Linear()
images = np.ones((6, 16), np.float32)
params = jax.jit(model.init)(jax.random.key(0), images)


@jax.jit
def eval_step(params, images, labels):
    logits = model.apply(params, images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


train_labels = np.arange(6, dtype=np.int32)
test_labels = np.arange(6).astype(np.uint8)
eval_step(params, images, train_labels)
eval_step(params, images, test_labels)  # <- cause
