# cause: shape
# subject: batch['tokens']
# old: i32[2,8]
# new: i32[2,5]
# reason: the trainer's own method has the name of the jitted function that it calls

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Model(eqx.Module):
    embed: eqx.nn.Embedding
    out: eqx.nn.Linear

    def __call__(self, tokens):
        hidden = jax.vmap(self.embed)(tokens).mean(axis=0)
        return self.out(hidden)


@eqx.filter_jit
def step(model, batch):
    logits = jax.vmap(model)(batch["tokens"])
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1))


class Trainer:
    def __init__(self, model):
        self.model = model

    def step(self, batch):
        return step(self.model, batch)  # <- cause

    def fit(self, batches):
        for batch in batches:
            self.step(batch)


one, two = jax.random.split(jax.random.key(0))
model = Model(eqx.nn.Embedding(9, 4, key=one), eqx.nn.Linear(4, 3, key=two))
Trainer(model).fit({"tokens": np.ones((2, length), np.int32)} for length in (8, 8, 5))
