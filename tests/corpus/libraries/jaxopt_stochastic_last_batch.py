# cause: shape
# subject: batch[0]
# old: f32[8,2]
# new: f32[4,2]
# advice: pad | short batch

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
import optax


def loss(w, data):
    x, y = data
    return jnp.mean((x @ w - y) ** 2)


solver = jaxopt.OptaxSolver(opt=optax.sgd(0.1), fun=loss, maxiter=10)


@jax.jit
def train_step(w, state, batch):
    return solver.update(w, state, data=batch)


x, y = np.ones((20, 2), np.float32), np.ones(20, np.float32)
w = np.zeros(2, np.float32)
state = jax.jit(solver.init_state)(w, data=(x[:8], y[:8]))
for at in range(0, 20, 8):
    w, state = train_step(w, state, (x[at:at + 8], y[at:at + 8]))  # <- cause
