# cause: dtype
# subject: treated
# old: f32[6]
# new: bool[6]
# reason: in the second study the column of the treatment comes from a comparison

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def trial(treated, age, outcome):
    effect = numpyro.sample("effect", dist.Normal(0.0, 1.0))
    by_age = numpyro.sample("by_age", dist.Normal(0.0, 0.5))
    with numpyro.plate("patients", outcome.shape[0]):
        logits = effect * treated + by_age * age
        numpyro.sample("outcome", dist.Bernoulli(logits=logits), obs=outcome)


@jax.jit
def negative_log_posterior(values, treated, age, outcome):
    def potential(values):
        return -log_density(trial, (treated, age, outcome), {}, values)[0]

    return jax.value_and_grad(potential)(values)


age = np.linspace(-1.0, 1.0, 6, dtype=np.float32)
outcome = np.array([0, 1, 1, 0, 1, 0], np.int32)
dose = np.array([0.0, 2.5, 0.0, 1.0, 5.0, 0.0])
values = {"effect": np.float32(0.0), "by_age": np.float32(0.0)}
for treated in ((dose > 0).astype(np.float32), np.ones(6, np.float32), dose > 1.0):
    value, grads = negative_log_posterior(values, treated, age, outcome)  # <- cause
    values = {name: np.float32(values[name] - 0.1 * grads[name]) for name in values}
