# cause: dtype
# subject: opt_state[0].mu['w']
# old: f32[3,2]
# new: bf16[3,2]
# program: jit_update
# reason: the second run keeps the first moment in half precision; the casts of the update follow from it

import jax
import jax.numpy as jnp
import numpy as np
import optax


def train(mu_dtype):
    optimizer = optax.adam(1e-3, mu_dtype=mu_dtype)

    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    params = {"w": np.ones((3, 2), np.float32)}
    opt_state = optimizer.init(params)
    for _ in range(2):
        params, opt_state = update(params, opt_state, x)  # <- cause


x = np.ones((4, 3), np.float32)
train(None)
train(jnp.bfloat16)
