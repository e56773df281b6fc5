# cause: arguments
# subject: segments
# old: absent
# new: i32[2,8]
# program: jit_train_step
# advice: neutral | every call
# reason: the second phase packs several documents in a row and says where they begin

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Decoder(nn.Module):
    vocabulary: int = 16
    width: int = 8

    @nn.compact
    def __call__(self, tokens, segments=None):
        x = nn.Embed(self.vocabulary, self.width)(tokens)
        mask = nn.make_causal_mask(tokens)
        if segments is not None:
            same = segments[:, None, :, None] == segments[:, None, None, :]
            mask = nn.combine_masks(mask, same)
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(x, mask=mask)
        return nn.Dense(self.vocabulary)(nn.LayerNorm()(x))


model = Decoder()
optimizer = optax.adamw(1e-3)


@jax.jit
def train_step(params, opt_state, tokens, segments):
    def loss_fn(params):
        logits = model.apply({"params": params}, tokens, segments)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:])
        return losses.mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def rows(rng, packed):
    for _ in range(3):
        tokens = rng.integers(0, 16, (2, 8)).astype(np.int32)
        yield tokens, np.repeat([[1, 2]], 4, axis=1).repeat(2, 0).astype(np.int32) if packed else None


rng = np.random.default_rng(0)
params = jax.jit(model.init)(jax.random.key(0), np.zeros((2, 8), np.int32))["params"]
opt_state = jax.jit(optimizer.init)(params)
for packed in (False, True):
    for tokens, segments in rows(rng, packed):
        params, opt_state, loss = train_step(params, opt_state, tokens, segments)  # <- cause
    print(packed, float(loss))
