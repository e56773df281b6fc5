# cause: gradient
# old: create
# new: accumulate
# advice: zeros_like
# reason: the gradients of four micro-batches are added; for the first there are none yet

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))


def encode(params, x):
    hidden = jax.nn.silu(x @ params["wide"])
    return hidden @ params["narrow"]


def contrastive(params, left, right):
    one, two = encode(params, left), encode(params, right)
    logits = one @ two.T
    return optax.softmax_cross_entropy_with_integer_labels(logits, jnp.arange(len(logits))).mean()


@jax.jit
def micro_step(params, grads, left, right):
    loss, new = jax.value_and_grad(contrastive)(params, left, right)
    if grads is not None:
        new = jax.tree.map(jnp.add, grads, new)  # <- cause
    return new, loss


@jax.jit
def apply(params, opt_state, grads):
    grads = jax.tree.map(lambda g: g / 4, grads)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def train(params, steps):
    rng = np.random.default_rng(0)
    opt_state = jax.jit(optimizer.init)(params)
    for _ in range(steps):
        grads = None
        for _ in range(4):
            left, right = rng.normal(size=(2, 6, 10)).astype(np.float32)
            grads, loss = micro_step(params, grads, left, right)  # <- call
        params, opt_state = apply(params, opt_state, grads)
    return params, float(loss)


start = {"wide": np.full((10, 16), 0.1, np.float32), "narrow": np.full((16, 8), 0.1, np.float32)}
print(train(start, 2)[1])
