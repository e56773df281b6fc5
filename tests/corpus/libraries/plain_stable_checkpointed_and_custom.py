# cause: stable
# reason: rematerialised blocks in a scan, a gradient of its own with a fixed bound, and a loss scale that is an array

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def bounded(x, bound):
    return x


bounded.defvjp(lambda x, bound: (x, None), lambda bound, _, g: (jnp.clip(g, -bound, bound),))


@functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
def block(x, layer):
    x = bounded(x + jnp.tanh(x @ layer["w"] + layer["b"]), 1.0)
    return x, jnp.mean(x ** 2)


@functools.partial(jax.jit, donate_argnums=0)
def train_step(params, x, scale):
    def loss_fn(params):
        out, activity = jax.lax.scan(block, x, params)
        return scale * (jnp.mean(out ** 2) + 0.01 * activity.sum())

    grads = jax.tree.map(lambda g: g / scale, jax.grad(loss_fn)(params))
    finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]))
    params = jax.tree.map(lambda p, g: jnp.where(finite, p - 0.1 * g, p), params, grads)
    return params, jnp.where(finite, scale * 2, scale / 2)


params = {"w": np.full((3, 4, 4), 0.1, np.float32), "b": np.zeros((3, 4), np.float32)}
scale = np.float32(256)
for step in range(4):
    params, scale = train_step(params, np.full((2, 4), step, np.float32), scale)
print(float(scale), float(params["w"].sum()))
