# cause: arguments
# subject: batch.weights
# old: absent
# new: f32[4]
# reason: the uniform replay gives no weights, the prioritised one does

import dataclasses
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


class Batch(NamedTuple):
    observations: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None = None


@dataclasses.dataclass
class Replay:
    prioritised: bool

    def sample(self, count):
        weights = np.linspace(0.5, 1, count, dtype=np.float32) if self.prioritised else None
        return Batch(np.ones((count, 3), np.float32), np.zeros(count, np.float32), weights)


network = hk.without_apply_rng(hk.transform(lambda x: hk.Sequential([hk.Linear(6), jax.nn.elu, hk.Linear(1)])(x)[:, 0]))


@jax.jit
def gradients(params, batch):
    def loss_fn(params):
        errors = (network.apply(params, batch.observations) - batch.targets) ** 2
        if batch.weights is not None:
            errors = errors * batch.weights
        return jnp.mean(errors)

    return jax.grad(loss_fn)(params)


params = jax.jit(network.init)(jax.random.key(0), np.ones((4, 3), np.float32))
for replay in (Replay(False), Replay(False), Replay(True)):
    grads = gradients(params, replay.sample(4))  # <- cause
