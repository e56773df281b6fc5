# cause: stable
# reason: many small arrays of many shapes are made on the way to the first step, once each

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import initialize_model


def model(x, y):
    layers = [x.shape[1], 5, 3, 1]
    h = x
    for index, (rows, columns) in enumerate(zip(layers, layers[1:])):
        w = numpyro.sample(f"w{index}", dist.Normal(jnp.zeros((rows, columns)), 1.0).to_event(2))
        h = jnp.tanh(h @ w)
    numpyro.sample("y", dist.Normal(h[:, 0], 0.1).to_event(1), obs=y)


x, y = np.ones((6, 2), np.float32), np.zeros(6, np.float32)
info = initialize_model(jax.random.key(0), model, model_args=(x, y))
gradient = jax.jit(jax.grad(info.potential_fn))
z = info.param_info.z
for _ in range(3):
    z = jax.tree.map(lambda p, g: p - 0.01 * g, z, gradient(z))
