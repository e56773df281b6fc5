# cause: shape
# subject: x
# old: f32[6,4]
# new: f32[2,4]
# advice: pad | short batch
# reason: the keys are split to the rows of the batch, so they drift with it

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Net(eqx.Module):
    first: eqx.nn.Linear
    dropout: eqx.nn.Dropout
    second: eqx.nn.Linear

    def __call__(self, x, key):
        return self.second(self.dropout(jax.nn.relu(self.first(x)), key=key))


one, two = jax.random.split(jax.random.key(0))
model = Net(eqx.nn.Linear(4, 8, key=one), eqx.nn.Dropout(0.3), eqx.nn.Linear(8, 1, key=two))
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))


@eqx.filter_jit
def make_step(model, opt_state, x, keys):
    def loss(model):
        return jnp.mean(jax.vmap(model)(x, keys) ** 2)

    grads = eqx.filter_grad(loss)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state


data = np.ones((14, 4), np.float32)
for start in range(0, 14, 6):
    x = data[start:start + 6]
    keys = jax.random.split(jax.random.fold_in(jax.random.key(1), start), len(x))
    model, opt_state = make_step(model, opt_state, x, keys)  # <- cause
