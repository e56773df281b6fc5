# cause: stable
# reason: graphs of any size are batched and padded to one budget of nodes, edges and graphs

import jax
import jax.numpy as jnp
import jraph
import numpy as np

BUDGET = {"n_node": 16, "n_edge": 24, "n_graph": 4}


def random_graph(rng):
    nodes, edges = int(rng.integers(2, 5)), int(rng.integers(1, 7))
    return jraph.GraphsTuple(
        nodes=rng.normal(size=(nodes, 3)).astype(np.float32), edges=np.ones((edges, 2), np.float32),
        senders=rng.integers(0, nodes, edges).astype(np.int32), receivers=rng.integers(0, nodes, edges).astype(np.int32),
        n_node=np.array([nodes], np.int32), n_edge=np.array([edges], np.int32), globals=np.zeros((1, 1), np.float32))


def network(params, graph):
    def update_edge(edges, sent, received, globals_):
        return jnp.tanh(jnp.concatenate([edges, sent, received], -1) @ params["edge"])

    def update_node(nodes, sent, received, globals_):
        return jnp.tanh(jnp.concatenate([nodes, received], -1) @ params["node"])

    def update_global(nodes, edges, globals_):
        return nodes @ params["out"]

    return jraph.GraphNetwork(update_edge, update_node, update_global)(graph).globals[:, 0]


@jax.jit
def train_step(params, graph, targets):
    def loss_fn(params):
        mask = jraph.get_graph_padding_mask(graph)
        return jnp.sum(mask * (network(params, graph) - targets) ** 2) / jnp.sum(mask)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


rng = np.random.default_rng(0)
params = {"edge": np.ones((8, 4), np.float32), "node": np.ones((7, 4), np.float32), "out": np.ones((4, 1), np.float32)}
for step in range(4):
    batch = jraph.batch_np([random_graph(rng) for _ in range(int(rng.integers(1, 4)))])
    params, loss = train_step(params, jraph.pad_with_graphs(batch, **BUDGET), np.zeros(4, np.float32))
    print(float(loss))
