# cause: constant
# subject: bound
# pattern: counter
# reason: the bound of the clipping is computed on the host of the norms so far; filter_jit makes it static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.05, momentum=0.9)


@eqx.filter_jit
def make_step(model, opt_state, x, y, bound):
    def loss_fn(model):
        return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    norm = optax.global_norm(grads)
    scale = jnp.minimum(1.0, bound / (norm + 1e-6))  # <- cause
    grads = jax.tree.map(lambda g: g * scale, grads)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss, norm


model = eqx.nn.MLP(4, 1, 8, 1, key=jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
rng = np.random.default_rng(0)
norms = [1.0]
for step in range(5):
    x = rng.normal(size=(8, 4)).astype(np.float32)
    y = rng.normal(size=8).astype(np.float32)
    bound = 1.5 * float(np.median(norms))
    model, opt_state, loss, norm = make_step(model, opt_state, x, y, bound)  # <- call
    norms.append(float(norm))
    print(f"{step}: loss {float(loss):.3f}, norm {norms[-1]:.3f}, bound {bound:.3f}")
