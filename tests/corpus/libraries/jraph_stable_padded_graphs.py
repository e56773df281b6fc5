# cause: stable
# reason: every batch of graphs is padded to one budget; MultiSteps applies every second gradient

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

NODES, EDGES, GRAPHS = 24, 40, 4
optimizer = optax.MultiSteps(optax.adam(1e-2), every_k_schedule=2)


def random_graph(rng):
    size, edges = int(rng.integers(3, 7)), int(rng.integers(4, 12))
    return jraph.GraphsTuple(
        nodes=rng.normal(size=(size, 3)).astype(np.float32),
        edges=rng.normal(size=(edges, 2)).astype(np.float32),
        senders=rng.integers(0, size, edges).astype(np.int32),
        receivers=rng.integers(0, size, edges).astype(np.int32),
        globals=np.zeros((1, 1), np.float32),
        n_node=np.array([size], np.int32), n_edge=np.array([edges], np.int32))


def readout(params, graph):
    network = jraph.GraphNetwork(
        update_edge_fn=lambda e, s, r, g: jnp.tanh(jnp.concatenate([e, s, r], -1) @ params["edge"]),
        update_node_fn=lambda n, s, r, g: jnp.tanh(jnp.concatenate([n, r], -1) @ params["node"]),
        update_global_fn=lambda n, e, g: n @ params["global"])
    return network(graph).globals[:, 0]


@jax.jit
def train_step(params, opt_state, graph, target):
    mask = jraph.get_graph_padding_mask(graph)

    def loss_fn(params):
        return jnp.sum(jnp.where(mask, (readout(params, graph) - target) ** 2, 0)) / jnp.sum(mask)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
params = {"edge": rng.normal(size=(8, 5)).astype(np.float32),
          "node": rng.normal(size=(8, 5)).astype(np.float32),
          "global": rng.normal(size=(5, 1)).astype(np.float32)}
opt_state = jax.jit(optimizer.init)(params)
for step in range(6):
    graph = jraph.batch_np([random_graph(rng) for _ in range(GRAPHS - 1)])
    graph = jraph.pad_with_graphs(graph, NODES, EDGES, GRAPHS)
    params, opt_state, loss = train_step(params, opt_state, graph, np.ones(GRAPHS, np.float32))
    print(step, float(loss))
