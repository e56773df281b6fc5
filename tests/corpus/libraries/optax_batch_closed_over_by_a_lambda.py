# cause: constant
# advice: argument
# reason: the lambda of each step closes over the batch, which is baked in

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)
params = np.ones(3, np.float32)
opt_state = optimizer.init(params)
target = np.float32(1.0)

random = np.random.default_rng(0)
for _ in range(3):
    x = random.normal(size=(5, 3)).astype(np.float32)
    value_and_grad = jax.jit(jax.value_and_grad(lambda params: jnp.mean((x @ params - target) ** 2)))  # <- cause
    loss, grads = value_and_grad(params)  # <- call
    updates, opt_state = optimizer.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
