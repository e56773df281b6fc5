# cause: gradient
# old: create
# new: accumulate

import jax
import jax.numpy as jnp
import numpy as np

MICRO_BATCHES = 3


def network(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, x, y):
    return jnp.mean((network(params, x) - y) ** 2)


@jax.jit
def accumulate(params, total, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    if total is None:
        return grads
    return jax.tree.map(lambda a, b: a + b, total, grads)  # <- cause


@jax.jit
def apply(params, total, rate):
    return jax.tree.map(lambda p, g: p - rate * g / MICRO_BATCHES, params, total)


def train(params, batches):
    for batch in batches:
        total = None
        for x in np.split(batch, MICRO_BATCHES):
            total = accumulate(params, total, x, x[:, :2])  # <- call
        params = apply(params, total, np.float32(0.05))
    return params


rng = np.random.default_rng(0)
sizes = (6, 12, 2)
params = [{"w": 0.3 * rng.normal(size=(m, n)).astype(np.float32), "b": np.zeros(n, np.float32)}
          for m, n in zip(sizes[:-1], sizes[1:])]
params = train(params, rng.normal(size=(2, 12, 6)).astype(np.float32))
print([np.asarray(layer["b"]).round(3) for layer in params])
