# cause: arguments
# pattern: growing
# old: absent
# new: f32[6,3]
# reason: stochastic weight averaging over a list of all snapshots so far

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1, momentum=0.9)


@jax.jit
def train_step(w, opt_state, x, labels):
    def loss_fn(w):
        return optax.softmax_cross_entropy_with_integer_labels(x @ w, labels).mean()

    updates, opt_state = optimizer.update(jax.grad(loss_fn)(w), opt_state)
    return optax.apply_updates(w, updates), opt_state


@jax.jit
def accuracy_of_average(snapshots, x, labels):
    w = sum(snapshots) / len(snapshots)
    return jnp.mean(jnp.argmax(x @ w, -1) == labels)


rng = np.random.default_rng(0)
x = rng.normal(size=(18, 6)).astype(np.float32)
labels = np.argmax(x[:, :3], -1).astype(np.int32)
w = np.zeros((6, 3), np.float32)
opt_state = optimizer.init(w)
snapshots = []
for epoch in range(6):
    for at in range(0, 18, 6):
        w, opt_state = train_step(w, opt_state, x[at:at + 6], labels[at:at + 6])
    snapshots.append(w)
    print(epoch, float(accuracy_of_average(snapshots, x, labels)))  # <- cause
