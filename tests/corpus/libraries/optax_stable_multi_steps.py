# cause: stable
# reason: gradients are accumulated over micro batches inside the optimizer

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.MultiSteps(optax.adamw(1e-3), every_k_schedule=2)


@jax.jit
def micro_step(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


params = jnp.ones(3)
opt_state = optimizer.init(params)
for _ in range(4):
    params, opt_state = micro_step(params, opt_state, np.ones((4, 3), np.float32))
print(int(opt_state.gradient_step))
