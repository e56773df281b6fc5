# cause: dtype
# old: f32...
# new: bf16...
# reason: the parameters stay in float32, the layer computes in bfloat16

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(16, dtype=self.dtype)(x))  # <- cause
        return nn.Dense(4)(x)


x = np.ones((4, 8), np.float32)
params = jax.jit(Net(jnp.float32).init)(jax.random.key(0), x)


def benchmark(dtype):
    apply = jax.jit(Net(dtype).apply)
    return apply(params, x)  # <- call


benchmark(jnp.float32)
benchmark(jnp.bfloat16)
