# cause: structure
# old: False
# advice: keep | jnp.where
# reason: pictures are mixed from the second epoch on

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(24)(x))
        return nn.Dense(5)(x)


model = Classifier()
optimizer = optax.adamw(1e-3)


def mixed(key, x, targets):
    share = jax.random.beta(key, 0.4, 0.4, (x.shape[0], 1))  # <- cause
    return (share * x + (1 - share) * x[::-1], share * targets + (1 - share) * targets[::-1])


@functools.partial(jax.jit, static_argnames="mixup")
def train_step(params, opt_state, key, x, labels, mixup):
    targets = jax.nn.one_hot(labels, 5)
    if mixup:
        x, targets = mixed(key, x, targets)

    def loss_fn(params):
        return optax.softmax_cross_entropy(model.apply(params, x), targets).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(24, 10)).astype(np.float32)
    labels = rng.integers(0, 5, 24).astype(np.int32)
    params = jax.jit(model.init)(jax.random.key(0), x[:8])
    opt_state = jax.jit(optimizer.init)(params)
    keys = np.asarray(jax.random.split(jax.random.PRNGKey(1), 9))
    for epoch in range(3):
        for at in range(3):
            rows = slice(8 * at, 8 * at + 8)
            params, opt_state, loss = train_step(params, opt_state, keys[3 * epoch + at], x[rows], labels[rows], mixup=epoch >= 1)
        print(epoch, float(loss))


main()
