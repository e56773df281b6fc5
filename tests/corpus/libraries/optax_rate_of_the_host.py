# cause: constant
# subject: step_size
# old: -0.1
# new: -0.05
# advice: argument | inject_hyperparams | schedule
# reason: the schedule is evaluated on the host and the optimizer made anew

import jax
import jax.numpy as jnp
import numpy as np
import optax

schedule = optax.piecewise_constant_schedule(0.1, {2: 0.5})


def make_update(rate):
    optimizer = optax.sgd(rate)

    @jax.jit
    def update(params, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
        updates, _ = optimizer.update(grads, optimizer.init(params), params)  # <- cause
        return optax.apply_updates(params, updates)

    return update


x = np.ones((4, 3), np.float32)
params = {"w": np.ones((3, 2), np.float32)}
rate = None
for step in range(4):
    if rate != round(float(np.asarray(schedule(np.int32(step)))), 6):
        rate = round(float(np.asarray(schedule(np.int32(step)))), 6)
        update = make_update(rate)
    params = update(params, x)  # <- call
