# cause: stable
# reason: graphs of any size are padded to one budget, and each is solved with the same solver

import jax
import jax.numpy as jnp
import jraph
import lineax as lx
import numpy as np

NODES, EDGES = 10, 24
solver = lx.CG(rtol=1e-4, atol=1e-4, max_steps=30)


@jax.jit
def potentials(graph, charge, damping):
    def laplacian(x):
        flow = graph.edges[:, 0] * (x[graph.senders] - x[graph.receivers])
        out = jraph.segment_sum(flow, graph.senders, NODES)
        return out - jraph.segment_sum(flow, graph.receivers, NODES) + damping * x

    structure = jax.ShapeDtypeStruct((NODES,), jnp.float32)
    operator = lx.FunctionLinearOperator(laplacian, structure, lx.positive_semidefinite_tag)
    return lx.linear_solve(operator, charge, solver, throw=False).value


def circuit(rng, nodes):
    edges = 2 * nodes
    graph = jraph.GraphsTuple(
        nodes=np.zeros((nodes, 1), np.float32),
        edges=rng.random((edges, 1)).astype(np.float32),
        senders=rng.integers(0, nodes, edges).astype(np.int32),
        receivers=rng.integers(0, nodes, edges).astype(np.int32),
        n_node=np.array([nodes], np.int32), n_edge=np.array([edges], np.int32), globals=None)
    charge = np.zeros(NODES, np.float32)
    charge[0], charge[nodes - 1] = 1, -1
    return jraph.pad_with_graphs(graph, NODES, EDGES, 2), charge


rng = np.random.default_rng(0)
for nodes in (5, 8, 6, 9):
    graph, charge = circuit(rng, nodes)
    x = potentials(graph, charge, np.float32(0.1 / nodes))
    print(nodes, np.asarray(x)[:nodes].round(2))
