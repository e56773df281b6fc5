# cause: weak_type
# subject: metrics['loss']
# old: weak f32[]
# new: f32[]
# advice: asarray
# reason: the running average begins as the Python number 0.0 and is an array after the first step

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

model = nn.Dense(2)
x = np.ones((4, 3), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def train_step(params, metrics, x):
    def loss_fn(params):
        return jnp.mean(model.apply(params, x) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, {"loss": 0.9 * metrics["loss"] + 0.1 * loss}


metrics = {"loss": 0.0}
for _ in range(4):
    params, metrics = train_step(params, metrics, x)  # <- cause
