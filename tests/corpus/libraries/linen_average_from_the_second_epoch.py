# cause: arguments
# subject: average...
# old: absent
# reason: the average of the weights is None until the second epoch

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(10)(x))
        return nn.Dense(1)(x)[:, 0]


model = Regressor()
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
DECAY = 0.99


@jax.jit
def train_step(params, opt_state, average, x, y):
    def loss_fn(params):
        return jnp.mean(optax.huber_loss(model.apply(params, x), y))

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    if average is not None:
        average = jax.tree.map(lambda a, p: DECAY * a + (1 - DECAY) * p, average, params)
    return params, opt_state, average, loss


rng = np.random.default_rng(0)
x = rng.normal(size=(32, 5)).astype(np.float32)
y = np.sin(x).sum(1)
params = jax.jit(model.init)(jax.random.key(0), x)
opt_state = jax.jit(optimizer.init)(params)
average = None
for epoch in range(3):
    if epoch == 1:
        average = params
    for start in range(0, 32, 8):
        rows = slice(start, start + 8)
        params, opt_state, average, loss = train_step(  # <- cause
            params, opt_state, average, x[rows], y[rows])
    print(f"epoch {epoch}: {float(loss):.4f}")
