# cause: nested_jit
# subject: predict
# program: jit_predict
# old: jitted once
# new: jitted twice
# reason: a function that is jitted already is jitted once more

import jax
import jax.numpy as jnp
import numpy as np


def predict(x):
    return jnp.tanh(x) * 2.0


def run(predict, x):
    return predict(x)  # <- cause


x = np.ones(3, np.float32)
once = jax.jit(predict)
run(once, x)
run(jax.jit(once), x)
