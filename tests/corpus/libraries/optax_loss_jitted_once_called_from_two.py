# cause: shape
# subject: logits
# old: f32[8,4]
# new: f32[5,4]

import jax
import numpy as np
import optax

loss = jax.jit(optax.softmax_cross_entropy_with_integer_labels)


def train(n):
    return loss(np.ones((n, 4), np.float32), np.zeros(n, np.int32))


def evaluate(n):
    return loss(np.ones((n, 4), np.float32), np.zeros(n, np.int32))  # <- cause


for _ in range(3):
    train(8)
    print(evaluate(5).mean())  # <- call
