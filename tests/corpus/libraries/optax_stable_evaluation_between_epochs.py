# cause: stable
# reason: training and validation have batches of two sizes, and a function each

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.lion(1e-3)


def loss_fn(params, batch):
    logits = batch["x"] @ params["w"] + params["b"]
    return optax.sigmoid_binary_cross_entropy(logits, batch["y"]).mean()


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


validate = jax.jit(loss_fn)


def batches(count, size):
    for _ in range(count):
        yield {"x": np.ones((size, 3), np.float32), "y": np.ones(size, np.float32)}


params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
opt_state = optimizer.init(params)
for epoch in range(2):
    for batch in batches(2, 8):
        params, opt_state, loss = train_step(params, opt_state, batch)
    losses = [validate(params, batch) for batch in batches(2, 16)]
    print(epoch, float(loss), float(np.mean(losses)))
