# cause: structure
# reason: the configuration looks embeddings up by a product with one-hot rows

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def make_forward(style):
    def forward(tokens):
        x = hk.Embed(9, 6, lookup_style=style)(tokens)  # <- cause
        return hk.Linear(2)(jnp.tanh(x.mean(1)))

    return hk.without_apply_rng(hk.transform(forward))


tokens = np.ones((3, 5), np.int32)
params = jax.jit(make_forward("ARRAY_INDEX").init)(jax.random.PRNGKey(0), tokens)


def logits_with(style):
    net = make_forward(style)

    @jax.jit
    def logits(params, tokens):
        return net.apply(params, tokens)

    return logits


for style in ("ARRAY_INDEX", "ONE_HOT"):
    logits_with(style)(params, tokens)  # <- call
