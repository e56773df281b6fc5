# cause: stable

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def net_fn(images):
    mlp = hk.Sequential([
        hk.Flatten(),
        hk.Linear(12), jax.nn.relu,
        hk.Linear(8), jax.nn.relu,
        hk.Linear(3),
    ])
    return mlp(images)


network = hk.without_apply_rng(hk.transform(net_fn))
optimiser = optax.adam(1e-3)


def loss_fn(params, images, labels):
    logits = network.apply(params, images)
    one_hot = jax.nn.one_hot(labels, 3)
    regulariser = 0.5 * sum(jnp.sum(jnp.square(p)) for p in jax.tree.leaves(params))
    return -jnp.mean(jnp.sum(one_hot * jax.nn.log_softmax(logits), -1)) + 1e-4 * regulariser


@jax.jit
def evaluate(params, images, labels):
    return jnp.mean(jnp.argmax(network.apply(params, images), axis=-1) == labels)


@jax.jit
def update(params, opt_state, images, labels):
    grads = jax.grad(loss_fn)(params, images, labels)
    updates, opt_state = optimiser.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


images, labels = np.ones((5, 4, 4), np.float32), np.arange(5, dtype=np.int32) % 3
params = network.init(jax.random.PRNGKey(0), images)
opt_state = optimiser.init(params)
for step in range(3):
    if step % 2 == 0:
        print(step, float(evaluate(params, images, labels)))
    params, opt_state = update(params, opt_state, images, labels)
