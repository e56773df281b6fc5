# cause: option
# subject: state['keys']
# old: rbg
# new: threefry2x32
# advice: jax_default_prng_impl

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(state):
    noise = jax.vmap(lambda key: jax.random.normal(key, (4,)))(state["keys"])
    return state["x"] + noise


x = np.ones((8, 4), np.float32)
for kind in ("rbg", "threefry2x32"):
    step({"keys": jax.random.split(jax.random.key(0, impl=kind), 8), "x": x})  # <- cause
