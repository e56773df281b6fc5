# cause: precision
# old: DEFAULT...
# new: HIGHEST...
# program: jit_predict
# run: JAX_DEFAULT_MATMUL_PRECISION=default
# run: JAX_DEFAULT_MATMUL_PRECISION=highest
# reason: the script of the second run asks for exact products

import haiku as hk
import jax
import numpy as np

model = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([6, 2])(x)))  # <- cause
x = np.ones((3, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def predict(params, x):
    return model.apply(params, x)


predict(params, x)
