# cause: retrace
# advice: same containers
# program: jit_evaluate
# reason: the reader of the test set gives an OrderedDict of the same arrays

import collections

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, numbers, weight):
        x = nn.swish(nn.Dense(8)(numbers))
        return nn.Dense(1)(x)[:, 0] * weight


model = Regressor()


@jax.jit
def evaluate(params, batch):
    predicted = model.apply(params, batch["numbers"], batch["weight"])
    return jnp.sqrt(jnp.mean((predicted - batch["target"]) ** 2))


def from_memory(rng):
    return {"numbers": rng.normal(size=(4, 3)).astype(np.float32),
            "target": rng.normal(size=4).astype(np.float32),
            "weight": np.ones(4, np.float32)}


def from_file(rng):
    record = collections.OrderedDict()
    record["numbers"] = rng.normal(size=(4, 3)).astype(np.float32)
    record["target"] = rng.normal(size=4).astype(np.float32)
    record["weight"] = np.ones(4, np.float32)
    return record


def mean_error(params, batches):
    return float(np.mean([float(evaluate(params, batch)) for batch in batches]))  # <- cause


rng = np.random.default_rng(0)
params = jax.jit(model.init)(jax.random.key(0), np.ones((4, 3), np.float32), np.ones(4, np.float32))
print("validation", mean_error(params, [from_memory(rng) for _ in range(3)]))
print("test", mean_error(params, [from_file(rng) for _ in range(3)]))
