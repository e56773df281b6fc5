# cause: size
# reason: the window of the pooling is a number of the configuration; the mean over the image takes any size

import haiku as hk
import jax
import numpy as np


def make_features(window):
    def features(images):
        x = jax.nn.relu(hk.Conv2D(4, 3)(images))
        x = hk.max_pool(x, (window, window, 1), (window, window, 1), "VALID")  # <- cause
        return hk.Linear(2)(x.max((1, 2)))

    return hk.without_apply_rng(hk.transform(features))


images = np.ones((2, 8, 8, 3), np.float32)
params = jax.jit(make_features(2).init)(jax.random.key(0), images)


def evaluate(window, images):
    net = make_features(window)

    @jax.jit
    def score(params, images):
        return jax.nn.softmax(net.apply(params, images))

    return score(params, images)  # <- call


for window in (2, 4):
    evaluate(window, images)
