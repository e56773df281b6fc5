# cause: shape
# subject: model.layers[0].weight
# old: f32[8,4]
# new: f32[16,4]
# program: jit_make_step
# run: --width 8
# run: --width 16
# reason: the moments of the optimizer have the shapes of the weights, and are not a cause of their own

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int)
options = parser.parse_args()
model = eqx.nn.MLP(4, 1, options.width, 2, key=jax.random.key(0))
optimizer = optax.adamw(1e-3)
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))


@eqx.filter_jit
def make_step(model, opt_state, x, y):
    loss, grads = eqx.filter_value_and_grad(
        lambda model: jnp.mean((jax.vmap(model)(x) - y) ** 2))(model)
    updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


x, y = np.ones((6, 4), np.float32), np.ones((6, 1), np.float32)
for _ in range(2):
    model, opt_state, loss = make_step(model, opt_state, x, y)  # <- cause
