# cause: constant
# program: jit_predict_with
# advice: array
# reason: the host reads which head is the best and gives its number as a static argument

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class ManyHeads(nnx.Module):
    def __init__(self, heads, rngs):
        self.body = nnx.Linear(4, 6, rngs=rngs)
        self.heads = nnx.Param(jax.random.normal(rngs.params(), (heads, 6)))

    def __call__(self, x):
        return jnp.einsum("bf,hf->bh", nnx.relu(self.body(x)), self.heads[...])

    def one(self, x, head):
        return nnx.relu(self.body(x)) @ self.heads[head]  # <- cause


@nnx.jit
def errors(model, x, y):
    return jnp.mean((model(x) - y[:, None]) ** 2, axis=0)


@functools.partial(nnx.jit, static_argnames="head")
def predict_with(model, x, *, head):
    return model.one(x, head)


def serve(model, stream):
    for x, y in stream:
        head = int(jnp.argmin(errors(model, x, y)))
        for _ in range(2):
            answer = predict_with(model, x, head=head)  # <- call
        yield head, float(answer.mean())


def drifting(model, rng):
    """Targets that the first head explains, then those of the third."""
    for wanted in (0, 2):
        x = rng.normal(size=(5, 4)).astype(np.float32)
        yield x, np.asarray(predictions(model, x))[:, wanted]


@nnx.jit
def predictions(model, x):
    return model(x)


model = nnx.jit(lambda: ManyHeads(3, nnx.Rngs(0)))()
for head, mean in serve(model, drifting(model, np.random.default_rng(0))):
    print(head, mean)
