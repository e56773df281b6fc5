# cause: shape
# subject: batch.images
# old: f32[6,4]
# new: f32[1,4]

import typing

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Batch(typing.NamedTuple):
    images: np.ndarray
    labels: np.ndarray


net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 3])(x)))
optimizer = optax.adam(1e-3)


def loss_fn(params, batch):
    logits = net.apply(params, batch.images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch.labels).mean()


@jax.jit
def update(params, opt_state, batch):
    grads = jax.grad(loss_fn)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


images, labels = np.ones((13, 4), np.float32), np.zeros(13, np.int32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), images[:1])
opt_state = jax.jit(optimizer.init)(params)
for start in range(0, 13, 6):
    batch = Batch(images[start:start + 6], labels[start:start + 6])
    params, opt_state = update(params, opt_state, batch)  # <- cause
