# cause: precision
# subject: dot_general
# old: DEFAULT...
# new: HIGHEST...
# reason: the answers are checked against a clone of the model whose products have full precision

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Tower(nn.Module):
    width: int
    precision: Any = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width, precision=self.precision)(x)  # <- cause
        scale = self.param("scale", nn.initializers.ones, (self.width,))
        return nn.softmax(nn.tanh(x) * scale)


def predictor(model):
    @jax.jit
    def predict(params, x):
        return model.apply(params, x)

    return predict


model = Tower(7)
reference = model.clone(precision=jax.lax.Precision.HIGHEST)
rng = np.random.default_rng(0)
batches = [rng.normal(size=(5, 3)).astype(np.float32) for _ in range(3)]
params = jax.jit(model.init)(jax.random.key(0), batches[0])
predict = predictor(model)
answers = [np.asarray(predict(params, batch)) for batch in batches]
check = predictor(reference)
for batch, answer in zip(batches, answers):
    wanted = np.asarray(check(params, batch))  # <- call
    print(np.abs(wanted - answer).max())
