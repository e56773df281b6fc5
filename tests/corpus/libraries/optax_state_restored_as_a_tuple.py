# cause: retrace
# advice: containers
# reason: the restored state is plain tuples; the arrays, and so the program, are the same

import jax
import jax.numpy as jnp
import numpy as np
import optax


@jax.jit
def update(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    trace = 0.9 * opt_state[0][0] + grads
    return params - 0.1 * trace, ((trace,), opt_state[1])


x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
opt_state = jax.jit(optax.sgd(0.1, momentum=0.9).init)(params)
update(params, opt_state, x)
restored = [tuple(np.asarray(leaf) for leaf in part) for part in opt_state]
update(params, restored, x)  # <- cause
