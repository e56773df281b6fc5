# cause: constant
# subject: constant f32[8]...
# old: 0.9636...
# advice: argument
# reason: np.random draws while tracing, so what it drew is a part of the program

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

np.random.seed(0)


def forward(x):
    hidden = jax.nn.relu(hk.Linear(8)(x))
    keep = np.random.uniform(size=8).astype(np.float32)
    return hk.Linear(2)(hidden * keep)  # <- cause


net = hk.without_apply_rng(hk.transform(forward))
x = np.ones((3, 4), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)
for epoch in range(2):
    @jax.jit
    def update(params, x):
        grads = jax.grad(lambda p: jnp.mean(net.apply(p, x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    params = update(params, x)  # <- call
