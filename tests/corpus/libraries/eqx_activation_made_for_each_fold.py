# cause: retrace
# reason: each fold's model has a lambda of its own, which filter_jit compares

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


def build(key, slope=0.2):
    return eqx.nn.MLP(7, 1, 16, 2, activation=lambda x: jnp.where(x > 0, x, slope * x), key=key)


def loss_fn(model, x, y):
    return ((jax.vmap(model)(x)[:, 0] - y) ** 2).mean()


@eqx.filter_jit
def make_step(model, opt_state, x, y):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def folds(rows, count):
    parts = np.array_split(np.arange(len(rows)), count)
    for held_out in range(count):
        yield np.concatenate([part for index, part in enumerate(parts) if index != held_out])


optimizer = optax.adam(3e-3)
rows = np.random.default_rng(9).normal(size=(40, 7)).astype(np.float32)
for number, chosen in enumerate(folds(rows, 4)):
    model = build(jax.random.key(number))
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    for _ in range(3):
        x = rows[chosen]
        model, opt_state, loss = make_step(model, opt_state, x, x.sum(1))  # <- cause
    print("fold", number, float(loss))
