# cause: stable
# reason: leaves are written to a file and read into a model of the same form

import io

import equinox as eqx
import jax
import numpy as np


@eqx.filter_jit
def forward(model, x):
    return jax.vmap(model)(x)


def make(seed):
    return eqx.nn.MLP(4, 2, 8, 1, key=jax.random.key(seed))


x = np.ones((3, 4), np.float32)
model = make(0)
before = forward(model, x)
file = io.BytesIO()
eqx.tree_serialise_leaves(file, model)
file.seek(0)
model = eqx.tree_deserialise_leaves(file, eqx.filter_eval_shape(make, 0))
np.testing.assert_array_equal(before, forward(model, x))
