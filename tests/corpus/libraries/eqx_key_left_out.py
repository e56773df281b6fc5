# cause: arguments
# subject: key
# old: u32[2]
# new: absent
# reason: without a key the noise is left out; the line that makes it follows from that

import equinox as eqx
import jax
import numpy as np


class Noisy(eqx.Module):
    linear: eqx.nn.Linear

    def __call__(self, x, key=None):
        if key is not None:
            x = x + jax.random.normal(key, x.shape)
        return self.linear(x)


@eqx.filter_jit
def forward(model, x, key=None):
    return model(x, key=key)


model = Noisy(eqx.nn.Linear(4, 2, key=jax.random.key(0)))
x = np.ones(4, np.float32)
forward(model, x, key=jax.random.PRNGKey(1))
forward(model, x)  # <- cause
