import jax
import jax.numpy as jnp
import numpy as np

TABLE = jnp.zeros((1024, 1024))
SMALL = jnp.zeros((16, 16))
LOADED = np.load("table.npy")
DRAWN = jnp.asarray(np.random.default_rng(0).normal(size=(2000, 2000)), jnp.float32)
SHAPE = (1024, 1024)


@jax.jit
def score(q):
    return (TABLE @ q).max() + TABLE.sum() + SMALL.sum()  # expect: closure-array


@jax.jit
def look_up(i, table):
    return LOADED[i] + DRAWN[i] + table[i] + TABLE.shape[0]  # expect: closure-array, closure-array


def plain(q):
    return TABLE @ q


def make():
    weights = jnp.ones((1 << 10, 4096))
    return jax.jit(lambda x: x @ weights)  # expect: closure-array
