# cause: arguments
# subject: graph.nodes['charge']
# old: absent
# new: f32[5]
# reason: in the second data set the atoms have charges, which the model adds to what it knows of them

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def molecule(**extra):
    return jraph.GraphsTuple(
        nodes={"position": np.ones((5, 3), np.float32), **extra}, edges=np.ones((4, 1), np.float32),
        senders=np.array([0, 1, 2, 3], np.int32), receivers=np.array([1, 2, 3, 4], np.int32),
        n_node=np.array([5], np.int32), n_edge=np.array([4], np.int32), globals=None)


@jax.jit
def energy(params, graph):
    nodes = graph.nodes["position"] @ params["embed"]
    if "charge" in graph.nodes:
        nodes = nodes + graph.nodes["charge"][:, None] * params["charge"]
    messages = jnp.tanh(nodes[graph.senders]) * graph.edges
    nodes = nodes + jraph.segment_sum(messages, graph.receivers, 5)
    return nodes.sum()


params = {"embed": np.ones((3, 4), np.float32), "charge": np.ones(4, np.float32)}
for graph in (molecule(), molecule(), molecule(charge=np.zeros(5, np.float32))):
    energy(params, graph)  # <- cause
