# cause: dtype
# subject: batch['weight']
# old: f32[4]
# new: i32[4]
# reason: in the second file the weights of the rows are counts, and integers

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))


def loss_fn(params, batch):
    hidden = jax.nn.relu(batch["x"] @ params["hidden"])
    logits = (hidden @ params["out"])[:, 0]
    each = optax.sigmoid_binary_cross_entropy(logits, batch["y"])
    return jnp.sum(each * batch["weight"]) / jnp.sum(batch["weight"])


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def read(weights):
    return {"x": np.ones((4, 3), np.float32), "y": np.array([0, 1, 1, 0], np.float32),
            "weight": np.asarray(weights)}


params = {"hidden": np.ones((3, 5), np.float32), "out": np.ones((5, 1), np.float32)}
opt_state = jax.jit(optimizer.init)(params)
files = (np.float32([0.5, 1.0, 2.0, 1.0]), np.float32([1.5, 1.0, 1.0, 0.5]), np.int32([1, 2, 2, 1]))
for weights in files:
    params, opt_state, loss = train_step(params, opt_state, read(weights))  # <- cause
