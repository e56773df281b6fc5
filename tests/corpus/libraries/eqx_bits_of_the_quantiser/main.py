# cause: constant
# reason: activations are quantised to fewer bits in each stage; the number of bits is a Python number

import equinox as eqx
import jax
import numpy as np
import optax

from network import Net, loss_fn

optimizer = optax.adam(1e-2)


@eqx.filter_jit
def train_step(model, opt_state, x, y, bits):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y, bits)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


rng = np.random.default_rng(0)
model = eqx.filter_jit(Net)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
for bits in (8, 4):
    for _ in range(2):
        x = rng.normal(size=(6, 4)).astype(np.float32)
        model, opt_state, loss = train_step(model, opt_state, x, x[:, :2], bits)  # <- call
    print(bits, float(loss))
