# cause: shape
# subject: x
# old: f32[4,3]
# new: f32[2,3]
# reason: gradients are clipped for each row, noised and divided by the number of rows

import jax
import jax.numpy as jnp
import numpy as np
import optax
from optax import contrib

optimizer = optax.chain(
    contrib.differentially_private_aggregate(l2_norm_clip=1.0, noise_multiplier=0.5, key=jax.random.key(0)),
    optax.sgd(0.1))


@jax.jit
def update(params, opt_state, x, y):
    def loss_fn(params, x, y):
        return jnp.mean((jnp.tanh(x @ params["w"]) - y) ** 2)

    grads = jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


params = {"w": jnp.ones((3, 2))}
opt_state = optimizer.init(params)
x, y = np.ones((10, 3), np.float32), np.zeros((10, 2), np.float32)
for start in range(0, 10, 4):
    params, opt_state = update(params, opt_state, x[start:start + 4], y[start:start + 4])  # <- cause
