# cause: option
# old: threefry2x32
# new: rbg
# program: jit_train_step
# reason: a faster generator of random numbers is set as the default after the first phase

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.chain(optax.clip(1.0), optax.adam(1e-2))


@jax.jit
def train_step(params, opt_state, key, x):
    noise = 0.1 * jax.random.normal(key, x.shape)

    def loss_fn(params):
        hidden = jax.nn.relu((x + noise) @ params["encoder"])
        return jnp.mean((hidden @ params["decoder"] - x) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def phase(params, opt_state, seed, steps):
    keys = jax.random.split(jax.random.key(seed), steps)
    for key in keys:
        params, opt_state, loss = train_step(params, opt_state, key, x)  # <- cause
    print(f"phase {seed}: {float(loss):.3f}")
    return params, opt_state


x = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
params = {"encoder": 0.3 * np.ones((4, 3), np.float32), "decoder": 0.3 * np.ones((3, 4), np.float32)}
opt_state = jax.jit(optimizer.init)(params)
params, opt_state = phase(params, opt_state, 0, 3)
jax.config.update("jax_default_prng_impl", "rbg")
params, opt_state = phase(params, opt_state, 1, 3)  # <- call
