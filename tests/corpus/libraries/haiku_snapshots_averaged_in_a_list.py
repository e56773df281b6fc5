# cause: arguments
# subject: snapshots[3]['linear']['b']
# old: absent
# new: f32[2]
# pattern: growing
# advice: list lengths
# reason: a snapshot is kept after each cycle, and the ensemble averages all there are

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

network = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(2)(x)))


@jax.jit
def train_step(params, x):
    grads = jax.grad(lambda params: jnp.mean(network.apply(params, x) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


@jax.jit
def ensemble(snapshots, x):
    votes = [jax.nn.softmax(network.apply(params, x)) for params in snapshots]
    return sum(votes) / len(votes)


x = np.ones((4, 3), np.float32)
params = jax.jit(network.init)(jax.random.key(0), x)
snapshots = []
for cycle in range(4):
    for _ in range(2):
        params = train_step(params, x)
    snapshots.append(params)
    print(cycle, np.asarray(ensemble(snapshots, x))[0])  # <- cause
