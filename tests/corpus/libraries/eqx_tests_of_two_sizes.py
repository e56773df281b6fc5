# cause: shape
# subject: x
# old: f32[4]
# new: f32[6]
# launch: -m pytest -q -p no:cacheprovider
# reason: one jitted helper of a test file, called with two sizes

import equinox as eqx
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def normalised(x):
    return x / jnp.sqrt(jnp.sum(x ** 2))


def test_small():
    assert np.isclose(np.sum(np.square(normalised(np.ones(4, np.float32)))), 1.0)


def test_large():
    result = normalised(np.ones(6, np.float32))  # <- cause
    assert np.isclose(np.sum(np.square(result)), 1.0)
