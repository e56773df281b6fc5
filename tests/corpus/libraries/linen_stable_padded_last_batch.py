# cause: stable
# reason: the last batch is padded to the size of the others and masked; warm-up and flags are arrays

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

data = np.random.default_rng(0).normal(size=(22, 6)).astype(np.float32)
model = nn.Sequential([nn.Dense(8), nn.gelu, nn.Dense(1)])
params = model.init(jax.random.key(0), data[:1])
schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 3, 12)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
opt_state = optimizer.init(params)


@jax.jit
def train_step(params, opt_state, x, mask, noisy):
    def loss_fn(params):
        noise = jnp.where(noisy, 0.1, 0.0) * jnp.sin(x)
        return jnp.sum(model.apply(params, x + noise)[:, 0] ** 2 * mask) / jnp.sum(mask)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def evaluate(params, x, mask):
    return jnp.sum(model.apply(params, x)[:, 0] * mask)


def batches(size):
    for start in range(0, len(data), size):
        rows = data[start:start + size]
        mask = np.arange(size) < len(rows)
        yield np.pad(rows, ((0, size - len(rows)), (0, 0))), mask.astype(np.float32)


for epoch in range(2):
    for number, (x, mask) in enumerate(batches(8)):
        params, opt_state, loss = train_step(params, opt_state, x, mask, number % 2 == 0)
    total = sum(float(evaluate(params, x, mask)) for x, mask in batches(8))
print(total)
