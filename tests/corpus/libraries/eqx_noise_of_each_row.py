# cause: shape
# subject: noise
# old: f32[3]
# new: f32[4,3]
# advice: rank
# reason: at first one disturbance serves all rows, later each has its own

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def reconstructed(model, rows, noise):
    over = None if noise.ndim == 1 else 0
    return jax.vmap(lambda row, n: model(row + n), in_axes=(0, over))(rows, noise)


class Experiment:
    def __init__(self):
        self.model = eqx.filter_jit(lambda key: eqx.nn.MLP(3, 3, 6, 1, key=key))(jax.random.key(0))
        self.rows = np.ones((4, 3), np.float32)

    def measure(self, noise):
        out = reconstructed(self.model, self.rows, noise)  # <- cause
        return float(np.mean((np.asarray(out) - self.rows) ** 2))


experiment = Experiment()
rng = np.random.default_rng(0)
for size in ((3,), (3,), (4, 3)):
    experiment.measure(rng.normal(size=size).astype(np.float32))
