# cause: stable

import jax
import jax.numpy as jnp
import numpy as np
import optax

schedule = optax.cosine_decay_schedule(0.1, 10)
optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.add_decayed_weights(1e-4, mask={"w": True, "b": False}),
    optax.scale_by_adam(),
    optax.scale_by_learning_rate(schedule))


@jax.jit
def update(params, opt_state, x):
    def loss_fn(params):
        return jnp.mean((x @ params["w"] + params["b"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
opt_state = optimizer.init(params)
for _ in range(4):
    params, opt_state, loss = update(params, opt_state, np.ones((4, 3), np.float32))
print(float(loss))
