# cause: constant
# subject: scaler.scale
# old: 1024.0
# new: 512.0
# advice: data_fields

import dataclasses
import functools
import jax, jax.numpy as jnp, numpy as np


@functools.partial(jax.tree_util.register_dataclass, data_fields=("good",), meta_fields=("scale",))
@dataclasses.dataclass
class Scaler:
    good: jax.Array
    scale: float


@jax.jit
def step(w, scaler, x):
    def loss(w):
        return ((x @ w) ** 2).mean() * scaler.scale  # <- cause
    g = jax.grad(loss)(w)
    return w - 1e-6 * g, dataclasses.replace(scaler, good=scaler.good + 1)


w, x = np.ones(8, np.float32), np.ones((4, 8), np.float32)
scaler = Scaler(jnp.asarray(0, jnp.int32), 1024.0)
for i in range(4):
    w, scaler = step(w, scaler, x)  # <- call
    if i == 1:
        scaler = dataclasses.replace(scaler, scale=scaler.scale / 2)
