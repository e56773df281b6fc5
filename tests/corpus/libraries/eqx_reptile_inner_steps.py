# cause: constant
# subject: inner_steps
# old: 3
# new: 8
# reason: meta-learning; for the evaluation the model descends more often on a task, and filter_jit makes the number static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def task(rng):
    amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0.0, 3.0)
    x = rng.uniform(-3.0, 3.0, size=(10, 1)).astype(np.float32)
    return x, (amplitude * np.sin(x + phase)).astype(np.float32)


@eqx.filter_jit
def adapt(model, x, y, inner_steps):
    params, static = eqx.partition(model, eqx.is_inexact_array)

    def loss_fn(params):
        predicted = jax.vmap(eqx.combine(params, static))(x)
        return jnp.mean((predicted - y) ** 2)

    def descend(_, params):
        grads = jax.grad(loss_fn)(params)
        return jax.tree.map(lambda p, g: p - 0.02 * g, params, grads)

    params = jax.lax.fori_loop(0, inner_steps, descend, params)  # <- cause
    return eqx.combine(params, static), loss_fn(params)


@eqx.filter_jit
def towards(model, adapted, share):
    old, static = eqx.partition(model, eqx.is_inexact_array)
    new = eqx.filter(adapted, eqx.is_inexact_array)
    return eqx.combine(jax.tree.map(lambda o, n: o + share * (n - o), old, new), static)


rng = np.random.default_rng(0)
model = eqx.nn.MLP(1, 1, 16, 2, activation=jnp.tanh, key=jax.random.key(0))
for iteration in range(4):
    x, y = task(rng)
    adapted, loss = adapt(model, x, y, 3)
    model = towards(model, adapted, np.float32(0.5))
x, y = task(rng)
_, loss = adapt(model, x, y, 8)  # <- call
print(float(loss))
