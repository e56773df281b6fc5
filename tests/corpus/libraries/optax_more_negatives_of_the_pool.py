# cause: shape
# subject: negatives
# old: f32[3,4]
# new: f32[9,4]
# reason: the pool of negative examples grows with the epochs, the pairs stay as many

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adamw(1e-3)


@jax.jit
def train_step(weights, opt_state, negatives, pairs):
    def contrastive(weights):
        first, second = jnp.tanh(pairs[0] @ weights), jnp.tanh(pairs[1] @ weights)
        others = jnp.tanh(negatives @ weights)
        near = jnp.sum(first * second, axis=-1, keepdims=True)
        logits = jnp.concatenate([near, first @ others.T], axis=-1) / 0.5
        return -jax.nn.log_softmax(logits)[:, 0].mean()

    grads = jax.grad(contrastive)(weights)
    updates, opt_state = optimizer.update(grads, opt_state, weights)
    return optax.apply_updates(weights, updates), opt_state


weights = np.ones((4, 5), np.float32)
opt_state = optimizer.init(weights)
pairs = np.ones((2, 6, 4), np.float32)
pool = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
for epoch, count in enumerate((3, 3, 9)):
    weights, opt_state = train_step(weights, opt_state, pool[:count], pairs)  # <- cause
