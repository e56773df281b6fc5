# cause: stable
# reason: one float32 scalar whoever made it, and a flag that is a bool of Python, of NumPy or of JAX

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.chain(optax.clip(1.0), optax.scale_by_adam())


@jax.jit
def update(params, opt_state, x, rate, frozen):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"]) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    scale = jnp.where(frozen, 0.0, -rate)
    return optax.apply_updates(params, jax.tree.map(lambda u: scale * u, updates)), opt_state, loss


x = np.random.default_rng(0).normal(size=(4, 3))
params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
opt_state = optimizer.init(params)
rates = (np.float32(0.1), jnp.float32(0.05), np.asarray(0.05, np.float32), jnp.asarray(0.025, "f4"))
flags = (False, np.False_, jnp.asarray(False), True)
for rate, frozen in zip(rates, flags):
    params, opt_state, loss = update(params, opt_state, x.astype(np.float32), rate, frozen)
print(float(loss))
