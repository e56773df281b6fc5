# cause: arguments
# subject: params['params']['out']['kernel']
# old: absent
# new: f32[6,11]
# reason: the output layer took the embedding's weights; untied it has its own

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Model(nn.Module):
    tied: bool

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(11, 6)
        x = nn.tanh(nn.Dense(6)(embed(tokens)))
        if self.tied:
            return embed.attend(x)
        return nn.Dense(11, use_bias=False, name="out")(x)


def train(tied):
    model = Model(tied)
    tokens = np.arange(8, dtype=np.int32).reshape(2, 4)
    params = model.init(jax.random.key(0), tokens)

    @jax.jit
    def step(params, tokens):
        def loss_fn(params):
            log_probs = nn.log_softmax(model.apply(params, tokens))
            return -jnp.take_along_axis(log_probs, tokens[..., None], -1).mean()

        grads = jax.grad(loss_fn)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    for _ in range(2):
        params = step(params, tokens)  # <- cause


for tied in (True, False):
    train(tied)
