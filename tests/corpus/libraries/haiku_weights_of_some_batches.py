# cause: arguments
# subject: batch['weight']
# old: absent
# new: f32[4]
# advice: same keys
# reason: only the second of the two data sets has a weight for each row

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def network(x):
    return hk.nets.MLP([8, 1])(x)[:, 0]


model = hk.without_apply_rng(hk.transform(network))


@jax.jit
def train_step(params, batch):
    def loss(params):
        errors = (model.apply(params, batch["x"]) - batch["y"]) ** 2
        if "weight" in batch:
            errors = errors * batch["weight"]
        return errors.mean()

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def read(weighted):
    batch = {"x": np.ones((4, 3), np.float32), "y": np.zeros(4, np.float32)}
    if weighted:
        batch["weight"] = np.ones(4, np.float32)
    return batch


params = jax.jit(model.init)(jax.random.key(0), read(False)["x"])
for weighted in (False, False, True):
    params = train_step(params, read(weighted))  # <- cause
