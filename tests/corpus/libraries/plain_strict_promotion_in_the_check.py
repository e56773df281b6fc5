# cause: retrace
# program: jit_train_step
# reason: a check runs the step under strict promotion of types, which is part of JAX's own key and changes nothing here

import jax
import jax.numpy as jnp
import numpy as np


def init(sizes, seed):
    rng = np.random.default_rng(seed)
    return [{"w": rng.normal(0, 0.3, size=pair).astype(np.float32), "b": np.zeros(pair[1], np.float32)}
            for pair in zip(sizes, sizes[1:])]


def forward(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(jnp.dot(x, layer["w"]) + layer["b"])
    return jnp.dot(x, params[-1]["w"]) + params[-1]["b"]


def loss_fn(params, x, y):
    error = forward(params, x) - y
    return jnp.sum(error * error)


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


def check(params, x, y):
    """Fails if the step mixes types."""
    with jax.numpy_dtype_promotion("strict"):
        _, loss = train_step(params, x, y)  # <- cause
    assert np.isfinite(float(loss))


rng = np.random.default_rng(1)
params = init([4, 8, 1], seed=0)
for epoch in range(2):
    for _ in range(3):
        x = rng.normal(size=(6, 4)).astype(np.float32)
        params, loss = train_step(params, x, x.sum(-1, keepdims=True))
    print(epoch, float(loss))
check(params, x, x.sum(-1, keepdims=True))
