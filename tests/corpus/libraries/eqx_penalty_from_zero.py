# cause: structure
# reason: a penalty of zero is left out by an if, and filter_jit makes the Python number static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def train_step(model, x, y, penalty):
    def loss_fn(model):
        loss = jnp.mean((jax.vmap(model)(x) - y) ** 2)
        if penalty:
            loss = loss + penalty * jnp.sum(model.weight ** 2)  # <- cause
        return loss

    grads = eqx.filter_grad(loss_fn)(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads))


model = eqx.nn.Linear(4, 2, key=jax.random.key(0))
x, y = np.ones((6, 4), np.float32), np.zeros((6, 2), np.float32)
for epoch in range(4):
    penalty = 0.0 if epoch < 2 else 0.01
    model = train_step(model, x, y, penalty)  # <- call
