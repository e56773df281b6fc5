# cause: structure
# reason: the messages that a node gets are summed, or the largest is taken, by a setting

import functools

import jax
import jraph
import numpy as np


@functools.partial(jax.jit, static_argnames="aggregation")
def layer(params, graph, aggregation):
    aggregate = getattr(jraph, f"segment_{aggregation}")
    messages = jax.nn.relu(graph.nodes @ params["message"])[graph.senders]
    received = aggregate(messages, graph.receivers, graph.nodes.shape[0])  # <- cause
    return graph._replace(nodes=jax.nn.relu(graph.nodes @ params["self"] + received))


index = np.arange(6, dtype=np.int32)
graph = jraph.GraphsTuple(nodes=np.ones((6, 3), np.float32), edges=None, senders=index,
                          receivers=np.roll(index, 1), globals=None,
                          n_node=np.array([6], np.int32), n_edge=np.array([6], np.int32))
params = {"message": np.ones((3, 3), np.float32), "self": np.ones((3, 3), np.float32)}
for aggregation in ("sum", "max"):
    layer(params, graph, aggregation=aggregation)  # <- call
