# cause: stable
# reason: a loop of updates that is stopped, stored, and gone on with

import pickle

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
import optax


def loss(params, data):
    x, labels = data
    logits = x @ params
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


solver = jaxopt.OptaxSolver(opt=optax.adam(1e-2), fun=loss, maxiter=10)
update = jax.jit(solver.update)
rng = np.random.default_rng(0)


def batch():
    return rng.normal(size=(4, 3)).astype(np.float32), rng.integers(0, 2, 4).astype(np.int32)


params = jnp.zeros((3, 2))
state = solver.init_state(params, data=batch())
for _ in range(3):
    params, state = update(params, state, data=batch())
stored = pickle.dumps(jax.tree.map(np.asarray, (params, state.internal_state)))
params, internal_state = pickle.loads(stored)
state = state._replace(internal_state=internal_state)
for _ in range(3):
    params, state = update(params, state, data=batch())
print(float(state.error))
