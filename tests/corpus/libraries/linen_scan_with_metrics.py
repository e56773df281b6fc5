# cause: structure
# reason: with the switch for debugging the loop over the micro-batches collects a norm for each

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

model = nn.Sequential([nn.Dense(6), nn.relu, nn.Dense(1)])
optimizer = optax.sgd(0.1, momentum=0.9)
batches = np.ones((3, 4, 5), np.float32)
params = jax.jit(model.init)(jax.random.key(0), batches[0])
opt_state = jax.jit(optimizer.init)(params)


@functools.partial(jax.jit, static_argnames="debug")
def train_epoch(params, opt_state, batches, debug=False):
    def body(carry, x):
        params, opt_state = carry
        loss, grads = jax.value_and_grad(lambda p: jnp.mean(model.apply(p, x) ** 2))(params)
        figures = {"loss": loss}
        if debug:
            figures["norm"] = optax.global_norm(grads)  # <- cause
        updates, opt_state = optimizer.update(grads, opt_state)
        return (optax.apply_updates(params, updates), opt_state), figures

    return jax.lax.scan(body, (params, opt_state), batches)


train_epoch(params, opt_state, batches)
train_epoch(params, opt_state, batches, debug=True)  # <- call
