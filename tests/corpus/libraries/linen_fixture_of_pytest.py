# cause: dtype
# subject: x
# old: f32[2,4]
# new: f16[2,4]
# launch: -m pytest -q -p no:cacheprovider

import flax.linen as nn
import jax
import numpy as np
import pytest

model = nn.Dense(3)


@pytest.fixture(scope="module")
def params():
    return jax.jit(model.init)(jax.random.key(0), np.ones((2, 4), np.float32))


@pytest.fixture(scope="module")
def forward():
    return jax.jit(lambda params, x: model.apply(params, x))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_finite(params, forward, dtype):
    x = np.ones((2, 4), dtype)
    y = forward(params, x)  # <- cause
    assert np.isfinite(np.asarray(y)).all()
