# cause: structure
# reason: the decay reaches the bias too, once the mask lets it
# program: jit_update

import jax
import jax.numpy as jnp
import numpy as np
import optax


def make_update(mask):
    optimizer = optax.chain(optax.scale_by_rms(),
                            optax.add_decayed_weights(1e-2, mask=mask), optax.scale(-1e-3))

    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"]) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    return update, optimizer


x = np.ones((4, 3), np.float32)
params = {"w": np.ones((3, 2), np.float32), "b": np.ones(2, np.float32)}
for mask in ({"w": True, "b": False}, {"w": True, "b": True}):
    update, optimizer = make_update(mask)
    update(params, jax.jit(optimizer.init)(params), x)  # <- call
