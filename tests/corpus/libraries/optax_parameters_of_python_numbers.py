# cause: weak_type
# subject: params['offset']
# old: weak f32[]
# new: f32[]
# advice: asarray | array
# and
# cause: weak_type
# subject: params['slope']
# old: weak f32[]
# new: f32[]
# reason: an array made of a Python number is weak; after the first update it is not

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)
x = np.linspace(0, 1, 6, dtype=np.float32)
params = {"slope": jnp.asarray(1.0), "offset": jnp.asarray(0.5)}
opt_state = optimizer.init(params)


@jax.jit
def update(params, opt_state, x, y):
    def loss_fn(params):
        return jnp.mean((params["slope"] * x + params["offset"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for _ in range(4):
    params, opt_state, loss = update(params, opt_state, x, 3 * x)  # <- cause, cause 2
