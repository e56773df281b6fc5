# cause: precision
# subject: dot_general
# old: DEFAULT
# new: HIGHEST
# program: jit_predict
# run: PREDICT_PRECISION=default
# run: PREDICT_PRECISION=highest
# advice: Keep precision= at this line the same
# reason: the service reads the precision of its products from a variable of the environment

import os

import jax
import jax.numpy as jnp
import numpy as np

PRECISION = os.environ.get("PREDICT_PRECISION", "default")
LENGTHSCALE = 0.7


def kernel(a, b):
    squared = jnp.sum((a[:, None] - b[None]) ** 2, axis=-1)
    return jnp.exp(-0.5 * squared / LENGTHSCALE ** 2)


@jax.jit
def predict(observed, weights, queries):
    similar = kernel(queries, observed)
    return jnp.einsum("qo,ot->qt", similar, weights, precision=PRECISION)  # <- cause


class Model:
    def __init__(self, observed, targets, noise=1e-2):
        gram = np.exp(-0.5 * ((observed[:, None] - observed[None]) ** 2).sum(-1)
                      / LENGTHSCALE ** 2)
        self.observed = observed
        self.weights = np.linalg.solve(gram + noise * np.eye(len(observed)),
                                       targets).astype(np.float32)

    def __call__(self, queries):
        return np.asarray(predict(self.observed, self.weights, queries))  # <- call


rng = np.random.default_rng(0)
observed = rng.normal(size=(7, 2)).astype(np.float32)
model = Model(observed, np.stack([observed.sum(1), observed.prod(1)], axis=1))
for _ in range(3):
    answer = model(rng.normal(size=(4, 2)).astype(np.float32))
print(answer.round(3))
