# cause: arguments
# subject: rngs['noise']
# old: absent
# new: key<fry>[]
# program: jit_apply_model
# advice: same keys | every call
# reason: robust evaluation adds noise to the features, for which it passes one more key

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Classifier(nn.Module):
    classes: int
    jitter: float = 0.1

    @nn.compact
    def __call__(self, x):
        if self.has_rng("noise"):
            x = x + self.jitter * jax.random.normal(self.make_rng("noise"), x.shape)
        x = nn.Dropout(0.25, deterministic=False)(nn.relu(nn.Dense(8)(x)))
        return nn.Dense(self.classes)(x)


model = Classifier(3)


@jax.jit
def apply_model(params, x, rngs):
    return model.apply(params, x, rngs=rngs)


def monte_carlo(params, x, samples, noisy):
    total = 0.0
    for sample in range(samples):
        rngs = {"dropout": jax.random.key(sample)}
        if noisy:
            rngs["noise"] = jax.random.key(1000 + sample)
        logits = apply_model(params, x, rngs)  # <- cause
        total = total + np.asarray(logits)
    return total / samples


def spread(logits):
    return float(logits.max() - logits.min())


x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
start = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
params = jax.jit(model.init)(start, x)
print("dropout alone", spread(monte_carlo(params, x, 3, noisy=False)))
print("with noise", spread(monte_carlo(params, x, 3, noisy=True)))
