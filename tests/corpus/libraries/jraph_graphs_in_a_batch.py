# cause: shape
# subject: batch.n_node
# old: i32[4]
# new: i32[3]
# reason: nodes and edges are padded, the number of graphs is not

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def molecule(atoms):
    bonds = np.arange(atoms, dtype=np.int32)
    return jraph.GraphsTuple(
        n_node=np.asarray([atoms], np.int32), n_edge=np.asarray([atoms], np.int32),
        nodes=np.ones((atoms, 4), np.float32), edges=None, globals=None,
        senders=bonds, receivers=bonds[::-1].copy())


def batches(molecules, size):
    for at in range(0, len(molecules), size):
        batch = jraph.batch_np(molecules[at:at + size])
        yield jraph.pad_with_graphs(batch, n_node=16, n_edge=16, n_graph=len(batch.n_node) + 1)


@jax.jit
def energy(w, batch):
    graph_ids = jnp.repeat(jnp.arange(batch.n_node.shape[0]), batch.n_node, total_repeat_length=16)
    return jraph.segment_mean(batch.nodes @ w, graph_ids, batch.n_node.shape[0])


w = np.ones(4, np.float32)
for batch in batches([molecule(n) for n in (3, 4, 5, 3, 2)], 3):
    energy(w, batch)  # <- cause
