# cause: weak_type
# subject: opt_state.hyperparams['learning_rate']
# old: f32[]
# new: weak f32[]
# advice: asarray | array
# reason: a Python number in the place of the injected array

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.inject_hyperparams(optax.sgd)(learning_rate=0.1)


@jax.jit
def update(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
opt_state = optimizer.init(params)
for rate in (None, 0.05):
    if rate:
        opt_state.hyperparams["learning_rate"] = rate
    params, opt_state = update(params, opt_state, x)  # <- cause
