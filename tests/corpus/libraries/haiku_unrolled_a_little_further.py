# cause: structure
# subject: steps
# old: 3
# new: 5
# reason: the curriculum's number of unrolled steps is a static Python number, which the loss is divided by as well: both follow from it

from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def rollout(observations, steps):
    core = hk.GRU(12)
    decode = hk.Linear(4)
    state = core.initial_state(observations.shape[0])
    total = 0.0
    for t in range(steps):
        hidden, state = core(observations[:, t], state)  # <- cause
        total += jnp.mean((decode(hidden) - observations[:, t + 1]) ** 2)
    return total


network = hk.without_apply_rng(hk.transform(rollout))
optimizer = optax.rmsprop(1e-3)


@partial(jax.jit, static_argnames="steps")
def update(params, opt_state, observations, steps):
    loss, grads = jax.value_and_grad(network.apply)(params, observations, steps)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss / steps


def episodes(count):
    rng = np.random.default_rng(11)
    for _ in range(count):
        yield rng.normal(size=(6, 8, 4)).astype(np.float32)


params = jax.jit(partial(network.init, steps=2))(jax.random.key(0), np.zeros((1, 8, 4), np.float32))
opt_state = jax.jit(optimizer.init)(params)
for steps in (3, 5):
    for batch in episodes(3):
        params, opt_state, loss = update(params, opt_state, batch, steps=steps)  # <- call
    print(steps, float(loss))
