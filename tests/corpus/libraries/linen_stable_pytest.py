# cause: stable
# launch: -m pytest -q -p no:cacheprovider

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(4)(nn.relu(nn.Dense(4)(x)))


@pytest.fixture
def params():
    return Block().init(jax.random.key(0), jnp.ones((2, 4)))


def test_shape(params):
    assert Block().apply(params, np.ones((2, 4), np.float32)).shape == (2, 4)


def test_jit_agrees(params):
    x = np.full((2, 4), 0.5, np.float32)
    jitted = jax.jit(lambda params, x: Block().apply(params, x))(params, x)
    np.testing.assert_allclose(jitted, Block().apply(params, x), rtol=1e-5)


def test_gradient_is_finite(params):
    grad = jax.jit(jax.grad(lambda params: Block().apply(params, jnp.ones((2, 4))).sum()))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(grad(params)))
