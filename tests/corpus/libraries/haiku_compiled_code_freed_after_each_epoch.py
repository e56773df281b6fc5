# cause: retrace
# advice: clear_cache
# program: jit_train_step
# reason: the step is made to forget its programs after each epoch, to free memory for the evaluation

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def network(x):
    return hk.nets.MLP([8, 8, 3], activation=jnp.tanh)(x)


forward = hk.without_apply_rng(hk.transform(network))
optimizer = optax.rmsprop(1e-3)


@jax.jit
def train_step(params, opt_state, x, labels):
    def loss_fn(params):
        logits = forward.apply(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def accuracy(params, x, labels):
    return jnp.mean(forward.apply(params, x).argmax(-1) == labels)


def free_memory():
    train_step.clear_cache()


def run(epochs, seed=0):
    rng = np.random.default_rng(seed)
    x, labels = rng.normal(size=(12, 4)).astype(np.float32), rng.integers(0, 3, 12)
    params = jax.jit(forward.init)(jax.random.key(seed), x[:4])
    opt_state = jax.jit(optimizer.init)(params)
    for epoch in range(epochs):
        for i in range(0, 12, 4):
            params, opt_state = train_step(params, opt_state, x[i:i + 4], labels[i:i + 4])  # <- cause
        free_memory()
        print(epoch, float(accuracy(params, x, labels)))


run(3)
