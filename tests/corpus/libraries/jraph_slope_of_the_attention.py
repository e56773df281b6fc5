# cause: constant
# subject: slope
# old: 0.25
# new: 0.125
# reason: the slope for negative scores of the attention is an argument of the layer's maker

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def make_attention(slope):
    def score(sent, received, edges):
        return jax.nn.leaky_relu(jnp.sum(sent + received, -1, keepdims=True), negative_slope=slope)  # <- cause

    def layer(params, graph):
        attend = jraph.GAT(lambda nodes: nodes @ params["query"], score, jax.nn.elu)
        return attend(graph)

    return layer


class Model:
    def __init__(self, slope):
        layer = make_attention(slope)
        self.loss = jax.jit(lambda params, graph: jnp.mean(layer(params, graph).nodes ** 2))


graph = jraph.GraphsTuple(
    nodes=np.ones((4, 3), np.float32), edges=None, globals=None, senders=np.array([0, 1, 2, 3], np.int32),
    receivers=np.array([1, 2, 3, 0], np.int32), n_node=np.array([4], np.int32), n_edge=np.array([4], np.int32))
params = {"query": np.ones((3, 5), np.float32)}
for slope in (0.25, 0.125):
    model = Model(slope)
    for _ in range(2):
        model.loss(params, graph)  # <- call
