# cause: dtype
# reason: the exported checkpoint is in bfloat16, the model that is being trained in float32

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import serialization


class Encoder(nn.Module):
    width: int = 16

    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(nn.Dense(self.width)(x))
        return nn.Dense(4)(nn.silu(x))


encoder = Encoder()


@jax.jit
def embed(params, x):
    out = encoder.apply({"params": params}, x)
    return out / jnp.linalg.norm(out, axis=-1, keepdims=True)


def export(params):
    half = jax.tree.map(lambda leaf: np.asarray(leaf).astype(jnp.bfloat16), params)
    return serialization.to_bytes(half)


x = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
params = jax.jit(encoder.init)(jax.random.key(0), x)["params"]
before = embed(params, x)
data = export(params)
served = serialization.msgpack_restore(data)
after = embed(served, x)  # <- cause
print(float(np.abs(np.asarray(before) - np.asarray(after)).max()))
