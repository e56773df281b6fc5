# cause: shape
# subject: params['params']['Embed_0']['embedding']
# old: f32[9,4]
# new: f32[12,4]
# reason: the vocabulary is extended in training

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Bag(nn.Module):
    vocabulary: int

    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(2)(nn.Embed(self.vocabulary, 4)(tokens).mean(axis=1))


@jax.jit
def read(params, tokens):
    table = params["params"]["Embed_0"]["embedding"]
    return table[tokens].mean(axis=1) @ params["params"]["Dense_0"]["kernel"]


tokens = np.ones((2, 5), np.int32)
params = jax.jit(Bag(9).init)(jax.random.key(0), tokens)
read(params, tokens)
table = np.asarray(params["params"]["Embed_0"]["embedding"])
params["params"]["Embed_0"]["embedding"] = np.concatenate([table, table[:3]])
read(params, tokens)  # <- cause
