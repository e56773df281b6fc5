# cause: stable
# reason: all batches are padded to one budget of nodes, edges and graphs, in training and evaluation

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def molecule(nodes, edges):
    random = np.random.default_rng(nodes)
    return jraph.GraphsTuple(
        nodes=random.normal(size=(nodes, 4)).astype(np.float32),
        edges=np.ones((edges, 2), np.float32),
        senders=random.integers(0, nodes, edges).astype(np.int32),
        receivers=random.integers(0, nodes, edges).astype(np.int32),
        n_node=np.array([nodes], np.int32),
        n_edge=np.array([edges], np.int32),
        globals=np.zeros((1, 1), np.float32))


def predict(params, graph):
    sent = graph.nodes[graph.senders] @ params["message"]
    received = jraph.segment_sum(sent, graph.receivers, 16)
    return jnp.tanh(graph.nodes @ params["own"] + received).sum(-1)


@jax.jit
def train_step(params, graph):
    def loss(params):
        mask = jraph.get_node_padding_mask(graph)
        return jnp.sum(jnp.where(mask, predict(params, graph) ** 2, 0.0)) / jnp.sum(mask)

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


@jax.jit
def evaluate(params, graph):
    mask = jraph.get_node_padding_mask(graph)
    return jnp.sum(jnp.where(mask, predict(params, graph), 0.0))


molecules = [molecule(nodes, edges) for nodes, edges in ((3, 4), (5, 6), (2, 2), (6, 9), (4, 4))]
params = {name: np.ones((4, 4), np.float32) for name in ("message", "own")}
for epoch in range(2):
    for batch in jraph.dynamically_batch(iter(molecules), n_node=16, n_edge=24, n_graph=4):
        params, value = train_step(params, batch)
    padded = jraph.pad_with_graphs(molecules[epoch], n_node=16, n_edge=24, n_graph=4)
    evaluate(params, padded)
