# cause: dtype
# subject: batch['attention_mask']
# old: i32[2,6]
# new: bool[2,6]
# reason: the tokenizer gives ones and zeros, the evaluation makes its mask by a comparison

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, tokens, keep):
        x = nn.Embed(13, 8)(tokens)
        x = nn.MultiHeadDotProductAttention(num_heads=2)(x, mask=keep[:, None, None, :] > 0)
        weights = keep[..., None].astype(x.dtype)
        return nn.Dense(2)((x * weights).sum(1) / weights.sum(1))


encoder = Encoder()


class Classifier:
    def __init__(self, params):
        self.params = params
        self._logits = jax.jit(lambda params, batch: encoder.apply(params, batch["input_ids"], batch["attention_mask"]))

    def logits(self, batch):
        return self._logits(self.params, batch)  # <- cause


ids = np.array([[1, 2, 3, 0, 0, 0], [4, 5, 6, 7, 8, 0]], np.int32)
tokenised = {"input_ids": ids, "attention_mask": np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]], np.int32)}
classifier = Classifier(jax.jit(encoder.init)(jax.random.key(0), ids, tokenised["attention_mask"]))
for _ in range(2):
    classifier.logits(tokenised)
classifier.logits({"input_ids": ids, "attention_mask": ids != 0})
