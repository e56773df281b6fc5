# cause: weak_type
# subject: scale
# old: weak f32[]
# new: f32[]
# reason: the scale of the loss begins as a Python number; it is an array once it was adjusted

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(1e-2)


@jax.jit
def train_step(params, opt_state, scale, x, y):
    def loss_fn(params):
        half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        hidden = jax.nn.relu(x.astype(jnp.bfloat16) @ half["in"])
        error = hidden @ half["out"] - y.astype(jnp.bfloat16)
        return jnp.mean(error ** 2) * scale

    grads = jax.grad(loss_fn)(params)
    grads = jax.tree.map(lambda g: g / scale, grads)
    finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]))
    updates, new_state = optimizer.update(grads, opt_state)
    updated = optax.apply_updates(params, updates)
    params = jax.tree.map(lambda new, old: jnp.where(finite, new, old), updated, params)
    return params, new_state, finite


rng = np.random.default_rng(0)
params = {"in": 0.1 * np.ones((4, 8), np.float32), "out": 0.1 * np.ones((8, 2), np.float32)}
opt_state = optimizer.init(params)
scale = 1024.0
for step in range(4):
    x = rng.normal(size=(8, 4)).astype(np.float32)
    params, opt_state, finite = train_step(params, opt_state, scale, x, x[:, :2])  # <- cause
    if step % 2 == 1:
        scale = jnp.where(finite, scale, scale / 2).astype(jnp.float32)
