# cause: constant
# subject: boundaries[0]
# old: 4
# new: 8
# reason: in the second run the warm-up is left later; the step at which it is left is a number of the schedule

import jax
import jax.numpy as jnp
import numpy as np
import optax


def make_update(boundary):
    schedule = optax.join_schedules(
        [optax.constant_schedule(1e-3), optax.exponential_decay(1e-2, 100, 0.9)], boundaries=[boundary])
    optimizer = optax.chain(optax.scale_by_adam(), optax.scale_by_learning_rate(schedule))

    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.sum((x @ p["w"] + p["b"]) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    return optimizer.init, update


params = {"w": np.ones((3, 2), np.float32), "b": np.zeros(2, np.float32)}
for boundary in (4, 8):
    init, update = make_update(boundary)
    opt_state, trained = init(params), params
    for _ in range(2):
        trained, opt_state = update(trained, opt_state, np.ones((5, 3), np.float32))  # <- call
