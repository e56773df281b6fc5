# cause: retrace
# subject: model.run
# advice: static | field | array
# reason: the name of the run is a static field of the model, and changes when the model is saved anew

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Regressor(eqx.Module):
    trunk: eqx.nn.MLP
    run: str = eqx.field(static=True)

    def __call__(self, x):
        return self.trunk(x)


@eqx.filter_jit
def evaluate(model, x):
    return jnp.square(jax.vmap(model)(x)).mean()


model = Regressor(eqx.nn.MLP(3, 1, 5, 1, key=jax.random.key(0)), "run-0915")
x = np.ones((4, 3), np.float32)
for name in ("run-0915", "run-1015", "run-1115"):
    model = dataclasses.replace(model, run=name)
    evaluate(model, x)  # <- cause
