# cause: shape
# subject: x
# old: f32[6,5]
# new: f32[2,5]
# advice: pad | drop
# reason: the last batch is short; a decorator of the user's calls the compiled function

import equinox as eqx
import jax
import numpy as np

import timing


@timing.timed
@eqx.filter_jit
def predict(model, x):
    return jax.vmap(model)(x)


def evaluate(model, rows, size):
    return [predict(model, rows[start : start + size]) for start in range(0, len(rows), size)]  # <- call


model = eqx.nn.MLP(5, 2, 8, 1, key=jax.random.key(0))
evaluate(model, np.ones((14, 5), np.float32), 6)
