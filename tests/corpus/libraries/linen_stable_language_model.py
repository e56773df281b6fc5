# cause: stable
# reason: a block of attention, causal mask, padded batches, and generation of a fixed length

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(13, 8)(tokens) + nn.Embed(10, 8)(jnp.arange(tokens.shape[1]))
        mask = nn.make_causal_mask(tokens)
        x = x + nn.SelfAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
        x = x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))
        return nn.Dense(13)(x)


model = Decoder()
optimizer = optax.adam(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 10))


@jax.jit
def update(params, opt_state, tokens):
    def loss_fn(params):
        logits = model.apply(params, tokens)[:, :-1]
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
        weights = tokens[:, 1:] > 0
        return jnp.sum(losses * weights) / jnp.sum(weights)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def next_token(params, tokens, position):
    return jnp.argmax(model.apply(params, tokens)[0, position - 1])


def padded(rows):
    out = np.zeros((len(rows), 10), np.int32)
    for row, ids in zip(out, rows):
        row[:len(ids)] = ids
    return out


params = jax.jit(model.init)(jax.random.key(0), padded([[1]]))
opt_state = jax.jit(optimizer.init)(params)
for length in (4, 9, 6):
    rows = [np.arange(1, length), np.arange(1, length - 1)]
    params, opt_state, loss = update(params, opt_state, padded(rows))
tokens = padded([[1, 2]])
for position in range(2, 6):
    tokens[0, position] = int(next_token(params, tokens, np.int32(position)))
print(tokens)
