# cause: structure
# subject: activation
# old: 'tanh'
# new: 'sine'

import jax
import model
import numpy as np


def step(w, x):
    return model.forward(w, x).sum()


def train(activation):
    model.activation = activation
    jax.clear_caches()
    w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
    jax.jit(step)(w, x)  # <- call


train("tanh")
train("sine")
