# cause: shape
# subject: x
# old: f32[8,3]
# new: f32[4,8,3]
# program: jit_train_step
# reason: in the second epoch each member of the ensemble is given rows of its own

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

MEMBERS = 4
optimizer = optax.adam(1e-2)


@eqx.filter_jit
@eqx.filter_vmap
def make(key):
    model = eqx.nn.MLP(3, 1, 8, 1, key=key)
    return model, optimizer.init(eqx.filter(model, eqx.is_inexact_array))


def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit
def train_step(models, opt_states, x, y):
    rows = 0 if x.ndim == 3 else None

    @eqx.filter_vmap(in_axes=(eqx.if_array(0), eqx.if_array(0), rows, rows))
    def one(model, opt_state, x, y):
        loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y)
        updates, opt_state = optimizer.update(grads, opt_state)
        return eqx.apply_updates(model, updates), opt_state, loss

    return one(models, opt_states, x, y)


rng = np.random.default_rng(0)
data = rng.normal(size=(24, 3)).astype(np.float32)
target = data.sum(-1, keepdims=True)
models, opt_states = make(jax.random.split(jax.random.key(0), MEMBERS))
for epoch in range(2):
    for _ in range(2):
        shape = 8 if epoch == 0 else (MEMBERS, 8)
        chosen = rng.integers(0, len(data), shape)
        models, opt_states, losses = train_step(models, opt_states, data[chosen], target[chosen])  # <- cause
    print(epoch, np.asarray(losses))
