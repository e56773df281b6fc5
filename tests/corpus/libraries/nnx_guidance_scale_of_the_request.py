# cause: constant
# subject: guidance
# old: 1.5
# new: 7.5
# reason: each request to the sampler has its scale of guidance, a static argument

import functools

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Denoiser(nnx.Module):
    def __init__(self, rngs):
        self.body = nnx.Linear(4, 12, rngs=rngs)
        self.classes = nnx.Embed(6, 12, rngs=rngs)
        self.head = nnx.Linear(12, 3, rngs=rngs)

    def __call__(self, x, t, labels):
        hidden = self.body(jnp.concatenate([x, t[:, None]], axis=-1)) + self.classes(labels)
        return self.head(nnx.silu(hidden))


@functools.partial(nnx.jit, static_argnames="guidance")
def denoise(model, x, t, labels, guidance):
    twice = jnp.concatenate([labels, jnp.full_like(labels, 5)])
    both = model(jnp.concatenate([x, x]), jnp.concatenate([t, t]), twice)
    conditional, unconditional = jnp.split(both, 2)
    noise = unconditional + guidance * (conditional - unconditional)  # <- cause
    return x - 0.25 * noise


class Service:
    def __init__(self, model, steps=3):
        self.model, self.steps = model, steps
        self.random = np.random.default_rng(0)

    def answer(self, labels, guidance):
        x = self.random.normal(size=(len(labels), 3)).astype(np.float32)
        for step in range(self.steps):
            t = np.full(len(labels), 1 - step / self.steps, np.float32)
            x = denoise(self.model, x, t, labels, guidance=guidance)  # <- call
        return np.asarray(x)


service = Service(nnx.jit(lambda: Denoiser(nnx.Rngs(0)))())
for request in ({"guidance": 1.5}, {"guidance": 1.5}, {"guidance": 7.5}):
    print(service.answer(np.array([0, 3, 4], np.int32), **request).mean())
