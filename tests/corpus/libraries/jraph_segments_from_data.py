# cause: size
# old: 3
# new: 5

import jax
import jraph
import numpy as np


def make_pool(graph_ids):
    segments = int(graph_ids.max()) + 1

    @jax.jit
    def pool(nodes, ids):
        scaled = nodes * 2.0
        return jraph.segment_sum(scaled, ids, num_segments=segments)  # <- cause
    return pool


nodes = np.ones((6, 2), np.float32)
for graph_ids in (np.array([0, 0, 1, 1, 2, 2], np.int32), np.array([0, 1, 2, 3, 4, 4], np.int32)):
    make_pool(graph_ids)(nodes, graph_ids)  # <- call
