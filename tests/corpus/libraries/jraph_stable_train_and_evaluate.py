# cause: stable
# reason: training and evaluation have programs of their own, each with one budget of padding

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def cycle(nodes):
    index = np.arange(nodes, dtype=np.int32)
    return jraph.GraphsTuple(np.ones((nodes, 2), np.float32), np.ones((nodes, 1), np.float32),
                             np.roll(index, 1), index, np.zeros((1, 1), np.float32),
                             np.array([nodes], np.int32), np.array([nodes], np.int32))


def forward(params, graph):
    net = jraph.InteractionNetwork(
        update_edge_fn=lambda edges, sent, received: jnp.tanh(edges @ params["edge"]),
        update_node_fn=lambda nodes, received: nodes @ params["node"])
    mask = jraph.get_node_padding_mask(graph)
    return jnp.where(mask[:, None], net(graph).nodes, 0.0).sum()


@jax.jit
def train_step(params, graph):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(forward)(params, graph))


evaluate = jax.jit(forward)
params = {"edge": np.ones((1, 1), np.float32), "node": np.ones((2, 2), np.float32)}
for epoch in range(2):
    for nodes in (3, 5, 4):
        params = train_step(params, jraph.pad_with_graphs(cycle(nodes), 8, 8))
    for nodes in (9, 12):
        value = evaluate(params, jraph.pad_with_graphs(cycle(nodes), 16, 16))
print(float(value))
