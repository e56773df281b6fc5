# cause: arguments
# subject: sums['margin']
# old: absent
# new: f32[]
# reason: from the second epoch on one more metric is summed up

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

model = nn.Sequential([nn.Dense(12), nn.relu, nn.Dense(4)])


def measured(logits, labels):
    right = jnp.take_along_axis(logits, labels[:, None], axis=-1)[:, 0]
    ordered = jnp.sort(logits, axis=-1)
    return {"loss": optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(),
            "accuracy": jnp.mean(logits.argmax(-1) == labels),
            "margin": jnp.mean(right - ordered[:, -2])}


@jax.jit
def train_step(params, sums, x, labels):
    def loss_fn(params):
        logits = model.apply(params, x)
        metrics = measured(logits, labels)
        return metrics["loss"], metrics

    grads, metrics = jax.grad(loss_fn, has_aux=True)(params)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)
    return params, {name: total + metrics[name] for name, total in sums.items()}


rng = np.random.default_rng(0)
x = rng.normal(size=(12, 6)).astype(np.float32)
labels = rng.integers(0, 4, 12).astype(np.int32)
params = jax.jit(model.init)(jax.random.key(0), x)
for epoch in range(3):
    names = ["loss", "accuracy"] if epoch == 0 else ["loss", "accuracy", "margin"]
    sums = {name: np.zeros((), np.float32) for name in names}
    for start in range(0, 12, 4):
        rows = slice(start, start + 4)
        params, sums = train_step(params, sums, x[rows], labels[rows])  # <- cause
    print(epoch, {name: round(float(total) / 3, 3) for name, total in sums.items()})
