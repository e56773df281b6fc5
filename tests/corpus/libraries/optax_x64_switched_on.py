# cause: dtype
# subject: x
# old: f32[4,3]
# new: f64[4,3]
# program: jit_update
# reason: the data was always of 64 bits; without x64 it was made f32 on its way in

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


@jax.jit
def update(params, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, _ = optimizer.update(grads, optimizer.init(params))
    return optax.apply_updates(params, updates)


x = np.linspace(0, 1, 12).reshape(4, 3)
params = np.ones(3, np.float32)
update(params, x)
jax.config.update("jax_enable_x64", True)
update(params, x)  # <- cause
