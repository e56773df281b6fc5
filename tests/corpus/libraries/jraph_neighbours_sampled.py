# cause: shape
# subject: senders
# old: i32[7]
# new: i32[5]
# advice: pad
# reason: the edges are thinned by a boolean mask of NumPy, so their number is another in each step

import jax
import jraph
import numpy as np

senders = np.array([0, 1, 2, 3, 3, 2, 1, 0], np.int32)
receivers = np.array([1, 2, 3, 0, 2, 1, 0, 3], np.int32)
nodes = np.ones((4, 3), np.float32)


@jax.jit
def update(params, nodes, senders, receivers):
    def loss_fn(params):
        hidden = jraph.segment_mean((nodes @ params)[senders], receivers, 4)
        return (hidden ** 2).mean()

    return params - 0.1 * jax.grad(loss_fn)(params)


params = np.ones((3, 2), np.float32)
for kept in (8, 7, 5):
    mask = np.arange(8) < kept
    params = update(params, nodes, senders[mask], receivers[mask])  # <- cause
