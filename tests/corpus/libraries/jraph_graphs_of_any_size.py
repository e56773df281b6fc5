# cause: shape
# subject: graph.nodes
# old: f32[9,3]
# new: f32[6,3]
# pattern: unpadded
# advice: pad

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def graph_of(nodes, edges):
    return jraph.GraphsTuple(
        nodes=np.ones((nodes, 3), np.float32), edges=np.ones((edges, 2), np.float32),
        senders=np.zeros(edges, np.int32), receivers=np.zeros(edges, np.int32),
        n_node=np.array([nodes], np.int32), n_edge=np.array([edges], np.int32),
        globals=np.ones((1, 1), np.float32))


@jax.jit
def apply(params, graph):
    network = jraph.GraphNetwork(
        update_edge_fn=lambda edges, sent, received, context: edges @ params["edge"],
        update_node_fn=lambda nodes, sent, received, context: nodes @ params["node"])
    return network(graph).nodes.sum()


params = {"edge": jnp.ones((2, 2)), "node": jnp.ones((3, 3))}
for nodes, edges in ((4, 6), (7, 12), (5, 8), (9, 17), (6, 7)):
    apply(params, graph_of(nodes, edges))  # <- cause
