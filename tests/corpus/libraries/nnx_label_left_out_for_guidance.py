# cause: arguments
# subject: labels
# old: i32[4]
# new: absent
# reason: guidance without a classifier asks the model twice, once with labels and once with None

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Denoiser(nnx.Module):
    def __init__(self, rngs):
        self.body = nnx.Linear(4, 12, rngs=rngs)
        self.classes = nnx.Embed(5, 12, rngs=rngs)
        self.head = nnx.Linear(12, 3, rngs=rngs)

    def __call__(self, x, t, labels=None):
        hidden = self.body(jnp.concatenate([x, t[:, None]], axis=-1))
        if labels is not None:
            hidden = hidden + self.classes(labels)
        return self.head(nnx.silu(hidden))


@nnx.jit
def denoise(model, x, t, labels):
    return model(x, t, labels)


@jax.jit
def combine(x, conditional, unconditional, scale):
    noise = unconditional + scale * (conditional - unconditional)
    return x - 0.25 * noise


def sample(model, x, labels, steps, scale):
    for step in range(steps):
        t = np.full(len(x), 1 - step / steps, np.float32)
        conditional = denoise(model, x, t, labels)
        unconditional = denoise(model, x, t, None)  # <- cause
        x = combine(x, conditional, unconditional, np.float32(scale))
    return x


model = nnx.jit(lambda: Denoiser(nnx.Rngs(0)))()
start = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
print(np.asarray(sample(model, start, np.array([0, 1, 2, 4], np.int32), 3, 2.0)))
