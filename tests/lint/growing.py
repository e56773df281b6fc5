import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(x):
    return x.sum()


def grow(x, new):
    points = x
    for i in range(1, 10):
        score(x[:i])  # expect: growing-shape
        score(x[i : i + 2])
        points = np.append(points, new)  # expect: growing-shape
        score(points)
        both = jnp.concatenate([x, new])
        both = jnp.concatenate([both, new])
        score(both)
        score(x[i])
    return points


def remember(x, steps):
    history, kept = [], []
    for _ in range(steps):
        history.append(x)
        score(jnp.stack(history))  # expect: growing-shape
        score(jnp.zeros(len(history)))  # expect: growing-shape
        score(history)  # expect: growing-shape
        score(np.asarray(kept))
        batch = []
        for _ in range(8):
            batch.append(x)
        score(jnp.stack(batch))
    return history
