# cause: retrace
# advice: leave it out
# program: jit_energy
# reason: the batch has numbers of its molecules that the model does not read, and more of them at times

import jax
import jax.numpy as jnp
import jraph
import numpy as np


@jax.jit
def energy(params, batch):
    graph = batch["graph"]
    nodes = jnp.tanh(graph.nodes @ params["embed"])
    messages = nodes[graph.senders] * (graph.edges @ params["edge"])
    nodes = nodes + jraph.segment_sum(messages, graph.receivers, nodes.shape[0])
    graph_of_node = jnp.repeat(jnp.arange(graph.n_node.shape[0]), graph.n_node,
                               total_repeat_length=nodes.shape[0])
    pooled = jraph.segment_sum(nodes, graph_of_node, graph.n_node.shape[0])
    return (pooled @ params["out"])[:, 0]


def molecule(rng, atoms):
    bonds = 2 * atoms
    return jraph.GraphsTuple(
        nodes=rng.normal(size=(atoms, 3)).astype(np.float32),
        edges=rng.normal(size=(bonds, 2)).astype(np.float32),
        senders=rng.integers(0, atoms, bonds).astype(np.int32),
        receivers=rng.integers(0, atoms, bonds).astype(np.int32),
        n_node=np.array([atoms], np.int32), n_edge=np.array([bonds], np.int32), globals=None)


def padded(graphs):
    return jraph.pad_with_graphs(jraph.batch_np(graphs), n_node=16, n_edge=32, n_graph=5)


def collate(rng, sizes, first):
    return {"graph": padded([molecule(rng, size) for size in sizes]),
            "registry": np.arange(first, first + len(sizes), dtype=np.int32)}


rng = np.random.default_rng(0)
params = {"embed": rng.normal(size=(3, 4)).astype(np.float32),
          "edge": rng.normal(size=(2, 4)).astype(np.float32),
          "out": rng.normal(size=(4, 1)).astype(np.float32)}
first = 100
for sizes in ([3, 4], [5, 2, 3], [2, 2, 2, 3]):
    batch = collate(rng, sizes, first)
    first += len(sizes)
    energies = energy(params, batch)  # <- cause
    print(np.asarray(energies)[:len(sizes)])
