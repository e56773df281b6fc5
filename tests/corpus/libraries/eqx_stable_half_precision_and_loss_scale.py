# cause: stable
# reason: compute in bfloat16, weights in float32, a loss scale that is an array and changes

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-3)


def cast(tree, dtype):
    return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, tree)


@eqx.filter_jit
def train_step(model, opt_state, scale, x, y):
    def scaled(model):
        out = jax.vmap(cast(model, jnp.bfloat16))(x.astype(jnp.bfloat16))
        return jnp.mean((out.astype(jnp.float32) - y) ** 2) * scale

    loss, grads = eqx.filter_value_and_grad(scaled)(model)
    grads = jax.tree.map(lambda g: g / scale, grads)
    finite = jnp.isfinite(loss)
    updates, new_state = optimizer.update(grads, opt_state)
    updates = jax.tree.map(lambda u: jnp.where(finite, u, 0), updates)
    scale = jnp.where(finite, jnp.minimum(scale * 2, 2.0 ** 15), scale / 2).astype(jnp.float32)
    return eqx.apply_updates(model, updates), new_state, scale, loss / scale


@eqx.filter_jit
def setup(key):
    model = eqx.nn.MLP(5, 1, 16, 2, key=key)
    return model, optimizer.init(eqx.filter(model, eqx.is_inexact_array))


model, opt_state = setup(jax.random.key(0))
scale = jnp.asarray(2.0 ** 10, jnp.float32)
rng = np.random.default_rng(0)
for step in range(6):
    x = rng.normal(size=(12, 5)).astype(np.float32)
    model, opt_state, scale, loss = train_step(model, opt_state, scale, x, x.sum(1, keepdims=True))
    if step == 3:
        eqx.tree_serialise_leaves("model.eqx", model)
        model = eqx.tree_deserialise_leaves("model.eqx", model)
print(float(loss), float(scale))
