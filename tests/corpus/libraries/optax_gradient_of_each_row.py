# cause: structure
# reason: for the report on outliers the gradient of each row is taken by itself, with vmap

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["first"])
    return jnp.mean((hidden @ params["second"] - y) ** 2)


@functools.partial(jax.jit, static_argnames="each")
def gradient_norms(params, x, y, each=False):
    if each:
        rows = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, x[:, None], y[:, None])  # <- cause
        return jax.vmap(optax.global_norm)(rows)
    return optax.global_norm(jax.grad(loss)(params, x, y))


params = {"first": np.ones((4, 5), np.float32), "second": np.ones(5, np.float32)}
x, y = np.ones((6, 4), np.float32), np.zeros(6, np.float32)
for epoch in range(2):
    print(float(gradient_norms(params, x, y)))
print(np.asarray(gradient_norms(params, x, y, each=True)))  # <- call
