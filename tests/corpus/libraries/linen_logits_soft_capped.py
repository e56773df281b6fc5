# cause: structure
# reason: the second configuration caps the logits, the first one has no cap

import dataclasses

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int = 11
    width: int = 8
    logit_cap: float | None = None


class Decoder(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.config.vocabulary, self.config.width)(tokens)
        x = x + nn.SelfAttention(2)(nn.LayerNorm()(x), mask=nn.make_causal_mask(tokens))
        x = x + nn.Dense(self.config.width)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))
        logits = nn.Dense(self.config.vocabulary, use_bias=False)(x)
        cap = self.config.logit_cap
        return logits if cap is None else cap * jnp.tanh(logits / cap)  # <- cause


def make_train_step(config):
    model = Decoder(config)

    @jax.jit
    def train_step(params, tokens):
        def loss_fn(params):
            logits = model.apply(params, tokens[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        grads = jax.grad(loss_fn)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return train_step


tokens = np.arange(14, dtype=np.int32).reshape(2, 7) % 11
params = jax.jit(Decoder(Config()).init)(jax.random.key(0), tokens)
for config in (Config(), Config(logit_cap=30.0)):
    train_step = make_train_step(config)
    for _ in range(2):
        params = train_step(params, tokens)  # <- call
