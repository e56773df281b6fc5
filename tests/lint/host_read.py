import math

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, x):
    scale = float(x.mean())  # expect: host-read
    n = int(params["n"])  # expect: host-read
    rows = x.shape[0]
    ratio = float(rows) / int(x.ndim)
    y = np.asarray(x)  # expect: host-read
    z = math.sqrt(x.sum())  # expect: host-read
    w = x.max().item()  # expect: host-read
    return x * scale * n * ratio * y * z * w + math.sqrt(rows) + math.sqrt(x.shape[1])


def train(params, batches):
    losses = []
    for i, batch in enumerate(batches):
        loss = step(params, batch)
        losses.append(float(loss))  # expect: host-read
        if i % 100 == 0:
            print(float(loss))
            for other in batches:
                print(float(step(params, other)))
    return [float(loss) for loss in losses]
