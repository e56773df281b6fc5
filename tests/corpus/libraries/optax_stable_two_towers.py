# cause: stable
# reason: a contrastive loss with a temperature that is learnt, steps that are skipped on the device, a slow copy of the weights

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.apply_if_finite(
    optax.multi_transform({"towers": optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 8)),
                           "scale": optax.sgd(1e-2)},
                          {"image": "towers", "text": "towers", "scale": "scale"}),
    max_consecutive_errors=3)


def embed(tower, x):
    rows = jnp.tanh(x @ tower["w1"]) @ tower["w2"]
    return rows / jnp.linalg.norm(rows, axis=-1, keepdims=True)


def loss_fn(params, images, texts, mask):
    logits = embed(params["image"], images) @ embed(params["text"], texts).T * jnp.exp(params["scale"])
    logits = jnp.where(mask[None, :] & mask[:, None], logits, -1e9)
    labels = jnp.arange(len(logits))
    each = (optax.softmax_cross_entropy_with_integer_labels(logits, labels) +
            optax.softmax_cross_entropy_with_integer_labels(logits.T, labels))
    return jnp.sum(each * mask) / jnp.sum(mask)


@jax.jit
def train_step(params, slow, opt_state, images, texts, mask):
    loss, grads = jax.value_and_grad(loss_fn)(params, images, texts, mask)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, optax.incremental_update(params, slow, 0.1), opt_state, loss


@jax.jit
def recall(params, images, texts):
    scores = embed(params["image"], images) @ embed(params["text"], texts).T
    return jnp.mean(scores.argmax(-1) == jnp.arange(len(scores)))


def tower(seed, size):
    draw = np.random.default_rng(seed).normal
    return {"w1": draw(size=(size, 8)).astype(np.float32), "w2": draw(size=(8, 4)).astype(np.float32)}


params = {"image": tower(0, 6), "text": tower(1, 5), "scale": jnp.zeros((), jnp.float32)}
slow, opt_state = params, jax.jit(optimizer.init)(params)
images, texts = np.eye(4, 6, dtype=np.float32), np.eye(4, 5, dtype=np.float32)
for epoch in range(2):
    for count in (4, 4, 2):
        mask = np.arange(4) < count
        params, slow, opt_state, loss = train_step(params, slow, opt_state, images, texts, mask)
    print(float(loss), float(recall(slow, images, texts)))
