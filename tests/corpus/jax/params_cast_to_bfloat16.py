# cause: dtype
# subject: params[0]['b']
# old: f32[4]
# new: bf16[4]

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, x):
    for layer in params:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return jnp.mean(x.astype(jnp.float32) ** 2)


@jax.jit
def step(params, x):
    grads = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)


def build(dtype):
    return [{"w": np.ones((4, 4), dtype), "b": np.ones(4, dtype)} for _ in range(3)]


x = np.ones((2, 4), np.float32)
step(build(np.float32), x)
step(build(jnp.bfloat16), x)  # <- cause
