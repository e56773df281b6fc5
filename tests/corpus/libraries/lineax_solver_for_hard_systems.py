# cause: structure
# run: EQX_ON_ERROR=nan
# reason: the second solver factorizes another way

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


class Filter(eqx.Module):
    noise: jax.Array
    transition: jax.Array

    def __init__(self, key, size):
        self.noise = 0.1 * jnp.eye(size)
        self.transition = jnp.eye(size) + 0.05 * jax.random.normal(key, (size, size))

    def gain(self, covariance, residual, solver):
        predicted = self.transition @ covariance @ self.transition.T
        operator = lx.MatrixLinearOperator(predicted + self.noise)
        return predicted @ lx.linear_solve(operator, residual, solver).value  # <- cause


@eqx.filter_jit
def correct(model, covariance, residual, solver):
    return model.gain(covariance, residual, solver)


def track(model, measurements, solver):
    covariance = np.eye(4, dtype=np.float32)
    state = np.zeros(4, np.float32)
    for measured in measurements:
        state = state + np.asarray(correct(model, covariance, measured - state, solver))  # <- call
    return state


model = eqx.filter_jit(Filter)(jax.random.key(1), 4)
measurements = np.random.default_rng(3).normal(size=(6, 4)).astype(np.float32)
print("LU ", track(model, measurements, lx.LU()))
print("SVD", track(model, measurements, lx.SVD()))
