# cause: size
# program: jit_train_step
# advice: size= | bound
# reason: the number of positive pairs of a batch is counted by NumPy and given as the size

import functools

import jax
import jax.numpy as jnp
import numpy as np


def embed(params, items):
    vectors = jnp.tanh(items @ params["w"])
    return vectors / jnp.linalg.norm(vectors, axis=-1, keepdims=True)


def pair_loss(params, items, related, count):
    vectors = embed(params, items)
    similar = vectors @ vectors.T
    left, right = jnp.nonzero(related, size=count)  # <- cause
    positives = similar[left, right]
    return jnp.mean(jax.nn.logsumexp(similar, axis=-1)) - jnp.mean(positives)


@functools.partial(jax.jit, static_argnums=3)
def train_step(params, items, related, count):
    loss, grads = jax.value_and_grad(pair_loss)(params, items, related, count)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def sessions(rng):
    for group in (2, 3, 2):
        items = rng.normal(size=(6, 4)).astype(np.float32)
        session = np.arange(6) // group
        related = (session[:, None] == session) & ~np.eye(6, dtype=bool)
        yield items, related


rng = np.random.default_rng(0)
params = {"w": rng.normal(size=(4, 5)).astype(np.float32)}
for items, related in sessions(rng):
    count = int(related.sum())
    params, loss = train_step(params, items, related, count)  # <- call
    print(count, float(loss))
