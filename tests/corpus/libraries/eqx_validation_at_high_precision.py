# cause: precision
# old: DEFAULT...
# new: HIGHEST...
# reason: the last validation asks for exact products around a function that was traced before

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


@eqx.filter_jit
def train_step(model, opt_state, x, y):
    def loss_fn(model):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    grads = eqx.filter_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state


@eqx.filter_jit
def validate(model, x, y):
    predicted = jax.vmap(model)(x)  # <- cause
    return jnp.mean((predicted - y) ** 2)


model = eqx.nn.MLP(3, 2, 8, 2, key=jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
rng = np.random.default_rng(0)
x = rng.normal(size=(12, 3)).astype(np.float32)
y = np.stack([x.sum(1), x.prod(1)], 1)
for epoch in range(3):
    for _ in range(2):
        model, opt_state = train_step(model, opt_state, x[:8], y[:8])
    print(epoch, float(validate(model, x[8:], y[8:])))
with jax.default_matmul_precision("highest"):
    final = validate(model, x[8:], y[8:])  # <- call
print("final", float(final))
