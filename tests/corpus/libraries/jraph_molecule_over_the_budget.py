# cause: shape
# subject: graph.nodes
# old: f32[16,4]
# new: f32[32,4]
# reason: nodes are padded to a power of two, and one batch needs the next

import jax
import jax.numpy as jnp
import jraph
import numpy as np

EDGES = 64


def power_of_two(count):
    return 1 << int(np.ceil(np.log2(count + 1)))


def batch_of(sizes, rng):
    graphs = []
    for size in sizes:
        senders = np.arange(size, dtype=np.int32)
        graphs.append(jraph.GraphsTuple(
            nodes=rng.normal(size=(size, 4)).astype(np.float32), edges=None,
            senders=senders, receivers=np.roll(senders, 1), globals=None,
            n_node=np.array([size], np.int32), n_edge=np.array([size], np.int32)))
    graph = jraph.batch_np(graphs)
    return jraph.pad_with_graphs(graph, power_of_two(sum(sizes)), EDGES, len(sizes) + 1)


@jax.jit
def energy(params, graph):
    network = jraph.GraphConvolution(lambda nodes: jnp.tanh(nodes @ params["conv"]),
                                     add_self_edges=False)
    nodes = network(graph).nodes @ params["out"]
    mask = jraph.get_node_padding_mask(graph)
    return jnp.sum(nodes[:, 0] * mask) / jnp.sum(mask)


rng = np.random.default_rng(0)
params = {"conv": rng.normal(size=(4, 8)).astype(np.float32),
          "out": rng.normal(size=(8, 1)).astype(np.float32)}
for sizes in ((4, 5), (6, 7), (9, 9), (5, 5)):
    print(sizes, float(energy(params, batch_of(sizes, rng))))  # <- cause
