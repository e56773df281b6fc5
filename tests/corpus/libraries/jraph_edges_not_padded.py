# cause: shape
# pattern: unpadded
# reason: the nodes are padded to one number, the edges to none

import jax
import jax.numpy as jnp
import jraph
import numpy as np

NODES = 12


def molecule(rng, edges):
    nodes = rng.integers(6, NODES)
    features = np.zeros((NODES, 4), np.float32)
    features[:nodes] = rng.normal(size=(nodes, 4))
    return jraph.GraphsTuple(nodes=features, edges=None, senders=rng.integers(0, nodes, edges).astype(np.int32),
                             receivers=rng.integers(0, nodes, edges).astype(np.int32), globals=None,
                             n_node=np.array([nodes], np.int32), n_edge=np.array([edges], np.int32))


def init(key):
    keys = jax.random.split(key, 3)
    return {name: jax.random.normal(k, shape) * 0.2
            for name, k, shape in zip(("message", "update", "out"), keys, ((4, 8), (12, 4), (4,)))}


@jax.jit
def energy(params, graph):
    messages = jnp.tanh(graph.nodes[graph.senders] @ params["message"])
    received = jraph.segment_sum(messages, graph.receivers, NODES)
    nodes = jnp.tanh(jnp.concatenate([graph.nodes, received], 1) @ params["update"])
    return (nodes @ params["out"]).sum()


def relax(params, graphs):
    for graph in graphs:
        yield float(energy(params, graph))  # <- cause


rng = np.random.default_rng(8)
params = jax.jit(init)(jax.random.key(0))
graphs = [molecule(rng, edges) for edges in (14, 22, 17, 30, 19)]
print([f"{value:.2f}" for value in relax(params, graphs)])
