# cause: arguments
# subject: mask
# old: absent

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x, mask=None):
        attended = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=16)(x, mask=mask)
        x = nn.LayerNorm()(x + attended)
        return nn.Dense(1)(x.mean(1))[:, 0]


model = Encoder()
optimizer = optax.adamw(3e-3)


def span_mask(rng, batch, length):
    keep = rng.random((batch, length)) > 0.2
    return (keep[:, None, :, None] & keep[:, None, None, :])


@jax.jit
def update(params, opt_state, x, y, mask=None):
    def objective(params):
        return jnp.mean((model.apply(params, x, mask) - y) ** 2)

    loss, grads = jax.value_and_grad(objective)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(3)
params = jax.jit(model.init)(jax.random.key(0), jnp.zeros((1, 6, 16)))
opt_state = jax.jit(optimizer.init)(params)
for epoch in range(3):
    for _ in range(3):
        x = rng.normal(size=(4, 6, 16)).astype(np.float32)
        y = rng.normal(size=4).astype(np.float32)
        mask = span_mask(rng, 4, 6) if epoch >= 1 else None
        params, opt_state, loss = update(params, opt_state, x, y, mask)  # <- cause
    print(epoch, float(loss))
