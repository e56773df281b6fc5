# cause: arguments
# subject: batch['mask']
# old: absent
# new: f32[4]
# and
# cause: constant
# subject: step_size
# old: -0.1
# new: -0.01
# reason: the second stage has padded data, so a mask, and a lower rate

import jax
import jax.numpy as jnp
import numpy as np
import optax


def make_update(rate):
    optimizer = optax.sgd(rate)

    @jax.jit
    def update(params, batch):
        def loss_fn(params):
            each = ((batch["x"] @ params["w"] - batch["y"]) ** 2).sum(-1)
            if "mask" in batch:
                return jnp.sum(each * batch["mask"]) / jnp.sum(batch["mask"])
            return jnp.mean(each)

        grads = jax.grad(loss_fn)(params)
        updates, _ = optimizer.update(grads, optimizer.init(params))  # <- cause 2
        return optax.apply_updates(params, updates)

    return update


stages = [(0.1, {"x": np.ones((4, 3), np.float32), "y": np.ones((4, 2), np.float32)})]
stages.append((0.01, stages[0][1] | {"mask": np.array([1, 1, 1, 0], np.float32)}))
params = {"w": np.ones((3, 2), np.float32)}
for rate, batch in stages:
    params = make_update(rate)(params, batch)  # <- cause, call 2
