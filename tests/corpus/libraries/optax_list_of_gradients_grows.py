# cause: arguments
# subject: history[2]['w']
# old: absent
# new: f32[3,2]
# advice: list lengths | same keys
# reason: the last gradients are kept in a list, which is longer with each step

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


@jax.jit
def update(params, history, x):
    grads = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p["w"]) ** 2))(params)
    total = jax.tree.map(lambda *leaves: sum(leaves) / len(leaves), grads, *history)
    updates, _ = optimizer.update(total, optimizer.init(params), params)
    return optax.apply_updates(params, updates), grads


x = np.ones((4, 3), np.float32)
params = {"w": np.ones((3, 2), np.float32)}
history = []
for _ in range(4):
    params, grads = update(params, history, x)  # <- cause
    history = [*history, grads]
