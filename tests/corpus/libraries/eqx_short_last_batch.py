# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[3,4]
# advice: pad | drop

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


def dataloader(arrays, size):
    for start in range(0, len(arrays[0]), size):
        yield tuple(array[start:start + size] for array in arrays)


@eqx.filter_value_and_grad
def compute_loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit
def make_step(model, opt_state, x, y):
    loss, grads = compute_loss(model, x, y)
    updates, opt_state = optim.update(grads, opt_state)
    return loss, eqx.apply_updates(model, updates), opt_state


model = eqx.nn.MLP(4, 1, 8, 1, key=jax.random.key(0))
optim = optax.sgd(0.1)
opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
data = np.ones((19, 4), np.float32), np.ones((19, 1), np.float32)
for x, y in dataloader(data, 8):
    loss, model, opt_state = make_step(model, opt_state, x, y)  # <- cause
