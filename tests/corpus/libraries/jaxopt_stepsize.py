# cause: constant
# subject: gd.stepsize
# old: 0.5
# new: 0.25
# advice: array
# reason: the update adds the gradient times the negated step size

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np

A = np.diag(np.float32([1.0, 2.0, 3.0]))


def quadratic(w):
    return 0.5 * w @ A @ w


def sweep(w, stepsizes):
    for stepsize in stepsizes:
        gd = jaxopt.GradientDescent(quadratic, stepsize=stepsize, acceleration=False, jit=False)
        update = jax.jit(lambda w, state: gd.update(w, state))  # <- cause
        state = gd.init_state(w)
        for _ in range(2):
            w, state = update(w, state)  # <- call
    return w


sweep(jnp.ones(3), (0.5, 0.25))
