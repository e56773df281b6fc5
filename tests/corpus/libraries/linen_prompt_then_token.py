# cause: shape
# subject: tokens
# old: i32[2,6]
# new: i32[2,1]
# reason: one function reads the prompt and then each token that it answered

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Model(nn.Module):
    @nn.compact
    def __call__(self, carry, tokens):
        x = nn.Embed(11, 6)(tokens)
        cell = nn.GRUCell(6, recurrent_kernel_init=nn.initializers.lecun_normal())
        carry, hidden = nn.RNN(cell, return_carry=True)(x, initial_carry=carry)
        return carry, nn.Dense(11)(hidden[:, -1])


model = Model()
prompt = np.arange(12, dtype=np.int32).reshape(2, 6) % 11
carry = jnp.zeros((2, 6))
params = jax.jit(model.init)(jax.random.key(0), carry, prompt)


@jax.jit
def advance(params, carry, tokens):
    carry, logits = model.apply(params, carry, tokens)
    return carry, logits.argmax(-1).astype(jnp.int32)[:, None]


tokens = prompt
for _ in range(4):
    carry, tokens = advance(params, carry, tokens)  # <- cause
