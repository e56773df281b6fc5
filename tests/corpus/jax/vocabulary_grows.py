# cause: shape
# subject: params['table']
# old: f32[32,8]
# new: f32[40,8]

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, tokens):
    hidden = jnp.tanh(params["table"][tokens] @ params["w"])
    scores = jax.nn.log_softmax(hidden @ params["table"].T)
    return -jnp.mean(jnp.take_along_axis(scores, tokens[..., None], axis=-1))


@jax.jit
def step(params, tokens):
    grads = jax.grad(loss)(params, tokens)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


tokens, w = np.zeros((2, 5), np.int32), np.ones((8, 8), np.float32)
step({"table": np.ones((32, 8), np.float32), "w": w}, tokens)
step({"table": np.ones((40, 8), np.float32), "w": w}, tokens)  # <- cause
