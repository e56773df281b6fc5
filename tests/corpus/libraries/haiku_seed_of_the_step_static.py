# cause: constant
# old: 2
# new: 3
# pattern: counter
# reason: the number of the step is static, and folded into the key inside the step

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def network(x, is_training):
    x = jax.nn.relu(hk.Linear(12)(x))
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.1, x)
    return hk.Linear(3)(x)


net = hk.transform(network)
optimizer = optax.adam(1e-3)


@functools.partial(jax.jit, static_argnames="step")
def update(params, opt_state, x, labels, step):
    key = jax.random.fold_in(jax.random.key(42), step)  # <- cause

    def loss_fn(params):
        logits = net.apply(params, key, x, True)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
x = rng.normal(size=(8, 4)).astype(np.float32)
labels = rng.integers(0, 3, 8).astype(np.int32)
params = jax.jit(net.init, static_argnums=2)(jax.random.key(0), x, True)
opt_state = jax.jit(optimizer.init)(params)
for step in range(4):
    params, opt_state = update(params, opt_state, x, labels, step=step)  # <- call
