# cause: stable
# reason: noisy gradients, steps that are not finite are skipped, and a state that was pickled

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.apply_if_finite(optax.chain(
    optax.clip_by_global_norm(1.0), optax.add_noise(0.01, 0.55, 0), optax.sgd(0.1)), 3)


@jax.jit
def step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
params = {"w": jnp.ones((3, 2), jnp.float32), "b": jnp.zeros(2, jnp.float32)}
opt_state = optimizer.init(params)
for number in range(6):
    x = rng.normal(size=(4, 3)).astype(np.float32)
    if number == 2:
        x[0, 0] = np.nan
    params, opt_state, loss = step(params, opt_state, x, x[:, :2])
    if number == 3:
        stored = pickle.dumps(jax.device_get((params, opt_state)))
        params, opt_state = pickle.loads(stored)
print(float(loss))
