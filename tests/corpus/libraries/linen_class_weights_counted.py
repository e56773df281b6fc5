# cause: constant
# reason: the weights of the classes are counted anew for each fold, and the loss closes over them

import flax.linen as nn
import jax
import numpy as np
import optax

model = nn.Dense(3)
params = model.init(jax.random.key(0), np.ones((1, 4), np.float32))


def make_step(weights):
    @jax.jit
    def train_step(params, x, labels):
        def loss_fn(params):
            losses = optax.softmax_cross_entropy(model.apply(params, x), jax.nn.one_hot(labels, 3))
            return (losses * weights[labels]).mean()  # <- cause

        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss_fn)(params))

    return train_step


x = np.ones((6, 4), np.float32)
for labels in (np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2, 2])):
    counts = np.bincount(labels, minlength=3)
    step = make_step(jax.numpy.asarray(6 / (3 * counts), "float32"))
    params = step(params, x, labels)  # <- call
