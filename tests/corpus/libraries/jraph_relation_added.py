# cause: arguments
# subject: relations['follows'].receivers
# old: absent
# new: i32[3]
# reason: the second data set knows one kind of edge more; its messages follow

import jax
import jax.numpy as jnp
import jraph
import numpy as np

PEOPLE = 4


def graph_of(nodes, senders, receivers):
    return jraph.GraphsTuple(nodes=nodes, edges=None, senders=np.asarray(senders, np.int32),
                             receivers=np.asarray(receivers, np.int32), globals=None,
                             n_node=np.array([PEOPLE], np.int32),
                             n_edge=np.array([len(senders)], np.int32))


@jax.jit
def embed(weights, nodes, relations):
    out = nodes @ weights["self"]
    for relation, graph in relations.items():
        messages = nodes[graph.senders] @ weights["message"]
        out = out + jraph.segment_mean(messages, graph.receivers, PEOPLE)
    return jax.nn.relu(out)


weights = {"self": np.ones((3, 2), np.float32), "message": np.ones((3, 2), np.float32)}
nodes = np.ones((PEOPLE, 3), np.float32)
cites, follows = ([0, 1, 2], [1, 2, 3]), ([3, 2, 1], [0, 0, 0])
small = {"cites": graph_of(None, *cites)}
embed(weights, nodes, small)
embed(weights, nodes + 1, small)
embed(weights, nodes, small | {"follows": graph_of(None, *follows)})  # <- cause
