# cause: arguments
# subject: graph.globals
# old: absent
# new: f32[1,2]

import jax
import jax.numpy as jnp
import jraph
import numpy as np


@jax.jit
def readout(graph):
    total = graph.nodes.sum(0)
    if graph.globals is not None:
        total = total + graph.globals[0]
    return total


ones = np.ones((3, 2), np.float32)
index = np.arange(3, dtype=np.int32)
graph = jraph.GraphsTuple(nodes=ones, edges=None, receivers=index, senders=index, globals=None,
                          n_node=np.array([3]), n_edge=np.array([3]))
readout(graph)
readout(graph._replace(globals=np.zeros((1, 2), np.float32)))  # <- cause
