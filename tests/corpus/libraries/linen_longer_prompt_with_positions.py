# cause: shape
# subject: args[0]
# old: i32[2,8]
# new: i32[2,11]
# reason: the prompt is longer; masks, positions and scales all follow from that

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Block(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        length = tokens.shape[1]
        x = nn.Embed(20, 8)(tokens)
        angle = jnp.arange(length)[:, None] / (10000 ** (jnp.arange(4) / 4))
        x = x + jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1)
        bias = -jnp.abs(jnp.arange(length)[None] - jnp.arange(length)[:, None]) / (length - 1)
        weight = jax.nn.softmax(x @ x.swapaxes(1, 2) / length**0.75 + bias)
        pooled = (weight @ x)[:, :: max(1, length // 4)]
        return nn.Dense(3)(pooled.mean(1) * (1 - 1 / (length + 2)))


net = Block()
short, long = np.ones((2, 8), np.int32), np.ones((2, 11), np.int32)
variables = net.init(jax.random.key(0), short)
forward = jax.jit(net.apply)
forward(variables, short)
forward(variables, short)
print(forward(variables, long).sum())  # <- cause
