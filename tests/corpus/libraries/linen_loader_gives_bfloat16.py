# cause: dtype
# subject: images
# old: f32[3,12]
# new: bf16[3,12]
# advice: where the data is made | astype | asarray
# reason: the loader of the test set converts to bfloat16, that of the training set does not

import flax.linen as nn
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, images):
        hidden = nn.gelu(nn.Dense(8)(images))
        return nn.LayerNorm()(nn.Dense(4)(hidden))


def batches(count, dtype=np.float32):
    for number in range(count):
        yield np.full((3, 12), number, np.float32).astype(dtype)


encoder = Encoder()
params = jax.jit(encoder.init)(jax.random.key(0), np.zeros((3, 12), np.float32))


@jax.jit
def embed(params, images):
    return encoder.apply(params, images).mean(0)


def collect(loader):
    return [np.asarray(embed(params, images), np.float32) for images in loader]  # <- cause


train = collect(batches(3))
test = collect(batches(2, ml_dtypes.bfloat16))  # <- call
