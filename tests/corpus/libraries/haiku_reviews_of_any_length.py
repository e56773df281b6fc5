# cause: shape
# pattern: unpadded
# subject: tokens
# reason: each batch is padded to its own longest review

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def network(tokens):
    x = hk.Embed(50, 8)(tokens)
    core = hk.GRU(12)
    states, _ = hk.dynamic_unroll(core, x, core.initial_state(tokens.shape[0]), time_major=False)
    return hk.Linear(2)(states[:, -1])


net = hk.without_apply_rng(hk.transform(network))
optimizer = optax.rmsprop(1e-3)


@jax.jit
def train_step(params, opt_state, tokens, labels):
    def loss_fn(params):
        logits = net.apply(params, tokens)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def collate(reviews):
    longest = max(len(review) for review in reviews)
    tokens = np.zeros((len(reviews), longest), np.int32)
    for row, review in zip(tokens, reviews):
        row[-len(review):] = review
    return tokens


rng = np.random.default_rng(3)
params = jax.jit(net.init)(jax.random.PRNGKey(0), np.zeros((4, 9), np.int32))
opt_state = jax.jit(optimizer.init)(params)
labels = np.array([0, 1, 1, 0], np.int32)
for longest in (9, 14, 11, 17, 8):
    reviews = [rng.integers(1, 50, size) for size in (longest, 5, 7, 6)]
    params, opt_state, loss = train_step(params, opt_state, collate(reviews), labels)  # <- cause
    print(longest, float(loss))
