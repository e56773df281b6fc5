# cause: edit
# old: return jnp.mean(error ** 2)
# new: return jnp.mean(jnp.abs(error))
# program: jit_train_step
# run: "error ** 2"
# run: jnp.abs(error)
# reason: between the runs the loss is changed in the module that has the losses

import pathlib
import sys

import flax.linen as nn
import jax
import numpy as np
import optax

pathlib.Path("losses_of_the_project.py").write_text(f"""
import jax.numpy as jnp


def weighted(losses, weight):
    return jnp.sum(losses * weight) / jnp.sum(weight)


def regression(predicted, wanted):
    error = predicted - wanted
    return jnp.mean({sys.argv[1]})
""")
sys.path.insert(0, str(pathlib.Path.cwd()))
import losses_of_the_project as losses  # noqa: E402

model = nn.Sequential([nn.Dense(8), nn.tanh, nn.Dense(2)])
optimizer = optax.adam(1e-2)


@jax.jit
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        return losses.regression(model.apply(params, x), y)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


x, y = np.ones((6, 4), np.float32), np.zeros((6, 2), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)
opt_state = jax.jit(optimizer.init)(params)
for _ in range(3):
    params, opt_state, loss = train_step(params, opt_state, x, y)
print(float(loss))
