# cause: constant
# subject: multiply
# old: 0.01
# new: 0.1
# program: jit_train_step
# run: WEIGHT_DECAY=0.01
# run: WEIGHT_DECAY=0.1
# reason: a sweep sets the weight decay in the environment of each run

import os

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adamw(1e-3, weight_decay=float(os.environ["WEIGHT_DECAY"]))


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(key, (m, n)) / np.sqrt(m), "b": jnp.zeros(n)}
            for key, m, n in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


@jax.jit
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        return optax.sigmoid_binary_cross_entropy(forward(params, x)[:, 0], y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)  # <- cause
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
params = init(jax.random.key(0), [4, 8, 1])
opt_state = optimizer.init(params)
for step in range(3):
    x = rng.normal(size=(8, 4)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.float32)
    params, opt_state, loss = train_step(params, opt_state, x, y)  # <- call
print(float(loss))
