# cause: dtype
# subject: graph.nodes
# old: f32[6,4]
# new: f16[6,4]
# reason: from the second epoch on features come from a cache, which stores them in half precision

import jax
import jax.numpy as jnp
import jraph
import numpy as np


class Features:
    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.cache = {}

    def __getitem__(self, name):
        if name in self.cache:
            return self.cache[name]
        nodes = self.rng.normal(size=(6, 4)).astype(np.float32)
        self.cache[name] = nodes.astype(np.float16)
        return nodes


def graph_of(nodes):
    senders = np.array([0, 1, 2, 3, 4, 5, 0, 2], np.int32)
    receivers = np.array([1, 2, 3, 4, 5, 0, 3, 5], np.int32)
    return jraph.GraphsTuple(nodes=nodes, edges=None, senders=senders, receivers=receivers,
                             n_node=np.array([6], np.int32), n_edge=np.array([8], np.int32), globals=None)


def predict(params, graph):
    def update(nodes, sent, received, globals_):
        return jax.nn.relu(nodes @ params["self"] + received @ params["neighbours"])

    layer = jraph.GraphNetwork(
        update_edge_fn=None, update_node_fn=update)
    hidden = layer(graph._replace(edges=graph.nodes[graph.senders])).nodes
    return jnp.mean(hidden @ params["out"])


@jax.jit
def train_step(params, graph, target):
    grads = jax.grad(lambda params: (predict(params, graph) - target) ** 2)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)


features = Features()
params = {name: 0.1 * np.ones(shape, np.float32)
          for name, shape in (("self", (4, 5)), ("neighbours", (4, 5)), ("out", (5,)))}
for epoch in range(2):
    for name in ("benzene", "pyridine"):
        params = train_step(params, graph_of(features[name]), np.float32(1.0))  # <- cause
