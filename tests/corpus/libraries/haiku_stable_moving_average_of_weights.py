# cause: stable
# reason: state of the network, an average of its weights for evaluation, restored from npz

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def forward(x, is_training):
    x = hk.Linear(12)(x)
    x = hk.BatchNorm(True, True, 0.9)(x, is_training)
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.1, x)
    return hk.Linear(1)(jax.nn.elu(x))


net = hk.transform_with_state(forward)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lamb(1e-2))


@jax.jit
def update(params, average, state, opt_state, key, x, y):
    def loss_fn(params):
        out, new = net.apply(params, state, key, x, True)
        return jnp.mean((out - y) ** 2), new

    grads, state = jax.grad(loss_fn, has_aux=True)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, optax.incremental_update(params, average, 0.05), state, opt_state


@jax.jit
def evaluate(average, state, x, y):
    out, _ = net.apply(average, state, None, x, False)
    return jnp.mean(jnp.abs(out - y))


@jax.jit
def start(key, x):
    params, state = net.init(key, x, True)
    return params, state, optimizer.init(params)


rng = np.random.default_rng(0)
x = rng.normal(size=(10, 4)).astype(np.float32)
params, state, opt_state = start(jax.random.PRNGKey(0), x)
average = params
keys = np.asarray(jax.random.split(jax.random.PRNGKey(1), 6))
for step in range(6):
    params, average, state, opt_state = update(params, average, state, opt_state, keys[step], x, x[:, :1])
    if step % 2:
        print(step, float(evaluate(average, state, x, x[:, :1])))
leaves, tree = jax.tree.flatten(average)
np.savez("average.npz", *leaves)
with np.load("average.npz") as file:
    average = jax.tree.unflatten(tree, [file[f"arr_{i}"] for i in range(len(leaves))])
print(float(evaluate(average, state, x, x[:, :1])))
