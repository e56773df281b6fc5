# cause: arguments
# subject: batch['mask']
# old: absent
# new: bool[2,6]
# advice: same keys

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, tokens, mask=None):
        x = nn.Embed(11, 8)(tokens)
        if mask is not None:
            x = jnp.where(mask[..., None], x, 0.0)
        return nn.Dense(3)(x)


model = Tagger()
tokens = np.ones((2, 6), np.int32)
params = jax.jit(model.init)(jax.random.key(0), tokens)


@jax.jit
def predict(params, batch):
    return model.apply(params, batch["tokens"], batch.get("mask")).argmax(-1)


loader = [{"tokens": tokens}, {"tokens": tokens}, {"tokens": tokens, "mask": tokens > 0}]
for batch in loader:
    predict(params, batch)  # <- cause
