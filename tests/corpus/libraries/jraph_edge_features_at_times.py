# cause: arguments
# subject: graph.edges
# old: absent
# new: f32[5,1]
# reason: one of the data sets has features of the edges, the other has None

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def graph_of(edges):
    index = np.arange(5, dtype=np.int32)
    return jraph.GraphsTuple(nodes=np.ones((5, 3), np.float32), edges=edges,
                             senders=index, receivers=np.roll(index, 1), globals=None,
                             n_node=np.array([5], np.int32), n_edge=np.array([5], np.int32))


@jax.jit
def forward(params, graph):
    messages = graph.nodes[graph.senders] @ params["node"]
    if graph.edges is not None:
        messages = messages + graph.edges @ params["edge"]
    received = jraph.segment_sum(messages, graph.receivers, graph.nodes.shape[0])
    return jax.nn.relu(received).mean()


params = {"node": np.ones((3, 2), np.float32), "edge": np.ones((1, 2), np.float32)}
forward(params, graph_of(None))
forward(params, graph_of(np.ones((5, 1), np.float32)))  # <- cause
