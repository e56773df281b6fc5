# cause: retrace
# advice: same keys
# reason: the step returns its metrics under the name of the task, which is static

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

model = nn.Dense(2)
x = np.ones((4, 3), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@functools.partial(jax.jit, static_argnames="task")
def train_step(params, x, task):
    loss, grads = jax.value_and_grad(lambda params: jnp.mean(model.apply(params, x) ** 2))(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, {f"{task}/loss": loss}


log = {}
for task in ("parsing", "parsing", "tagging"):
    params, metrics = train_step(params, x, task)  # <- cause
    log.update(metrics)
