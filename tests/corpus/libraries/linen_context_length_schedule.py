# cause: shape
# subject: tokens
# old: i32[4,16]
# new: i32[4,24]
# reason: the context of the language model is lengthened from stage to stage

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCABULARY = 17
STAGES = [(8, 2), (16, 2), (24, 3)]  # length of the context, steps


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
        x = x + nn.SelfAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
        return x + nn.Dense(self.width)(nn.gelu(nn.Dense(2 * self.width)(nn.LayerNorm()(x))))


class LanguageModel(nn.Module):
    width: int = 8
    longest: int = 32

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(VOCABULARY, self.width)(tokens)
        positions = self.param("positions", nn.initializers.normal(0.02), (self.longest, self.width))
        x = x + positions[: tokens.shape[1]]
        return nn.Dense(VOCABULARY)(Block(self.width)(x))


model = LanguageModel()
optimizer = optax.adamw(3e-4)


@jax.jit
def train_step(params, opt_state, tokens):
    def loss_fn(params):
        logits = model.apply(params, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


text = np.random.default_rng(1).integers(0, VOCABULARY, 4000).astype(np.int32)
params = jax.jit(model.init)(jax.random.key(0), np.zeros((1, 8), np.int32))
opt_state = jax.jit(optimizer.init)(params)
place = 0
for length, steps in STAGES:
    for _ in range(steps):
        tokens = text[place:place + 4 * length].reshape(4, length)
        place += tokens.size
        params, opt_state, loss = train_step(params, opt_state, tokens)  # <- cause
    print(f"length {length}: loss {float(loss):.3f}")
