# cause: retrace
# launch: -m pytest -q -p no:cacheprovider
# advice: once
# reason: the fixture jits a lambda for every test, since it has the scope of a function

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def forward_fn(x):
    x = hk.Conv1D(6, 3)(x)
    return hk.Linear(2)(jax.nn.relu(x).mean(axis=1))


network = hk.without_apply_rng(hk.transform(forward_fn))


@pytest.fixture(scope="session")
def params():
    return jax.jit(network.init)(jax.random.key(0), np.ones((1, 7, 3), np.float32))


@pytest.fixture
def probabilities():
    return jax.jit(lambda params, x: jax.nn.softmax(network.apply(params, x)))


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_sums_to_one(params, probabilities, scale):
    x = np.full((3, 7, 3), scale, np.float32)
    found = np.asarray(probabilities(params, x))  # <- cause
    np.testing.assert_allclose(found.sum(-1), 1.0, rtol=1e-5)
