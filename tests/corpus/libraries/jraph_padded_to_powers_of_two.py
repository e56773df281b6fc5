# cause: shape
# subject: graphs.nodes
# old: f32[8,2]
# new: f32[16,2]

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def next_power(value):
    return 1 << int(value - 1).bit_length()


def pad(graph):
    nodes, edges = int(graph.n_node.sum()), int(graph.n_edge.sum())
    return jraph.pad_with_graphs(graph, next_power(nodes + 1), 16, 3)


def ring(nodes):
    index = np.arange(nodes, dtype=np.int32)
    return jraph.GraphsTuple(np.ones((nodes, 2), np.float32), None, index, np.roll(index, 1), None,
                             np.array([nodes], np.int32), np.array([nodes], np.int32))


@jax.jit
def evaluate(w, graphs):
    mask = jraph.get_node_padding_mask(graphs)
    hidden = jnp.tanh(graphs.nodes @ w)
    return jnp.sum(hidden * mask[:, None]) / mask.sum()


w = np.ones((2, 2), np.float32)
for nodes in (5, 6, 11):
    evaluate(w, pad(ring(nodes)))  # <- cause
