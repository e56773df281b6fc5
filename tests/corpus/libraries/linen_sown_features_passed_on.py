# cause: arguments
# pattern: growing
# reason: self.sow adds to what the variables hold, and the next call gets all of it

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Probe(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(8, name="first")(x))
        self.sow("intermediates", "hidden", x.mean(0))
        return nn.Dense(2, name="second")(x)


model = Probe()


@jax.jit
def forward(variables, x):
    y, kept = model.apply(variables, x, mutable=["intermediates"])
    return y, {**variables, **kept}


def describe(variables):
    hidden = variables["intermediates"]["hidden"]
    return np.stack([np.asarray(value) for value in hidden]).std()


rows = np.random.default_rng(0).normal(size=(30, 6, 4)).astype(np.float32)
variables = jax.jit(model.init)(jax.random.key(2), jnp.zeros((6, 4)))
for index in range(6):
    logits, variables = forward(variables, rows[index])  # <- cause
print("spread of the hidden layer", describe(variables))
