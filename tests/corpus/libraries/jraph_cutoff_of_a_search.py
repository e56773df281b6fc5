# cause: weak_type
# subject: cutoff
# old: weak f32[]
# new: f32[]
# reason: the cutoff of the radius is 0.5 by hand, and an array when the search chose it

import jax
import jax.numpy as jnp
import jraph
import numpy as np

graph = jraph.GraphsTuple(
    nodes=np.ones((4, 3), np.float32), edges=np.ones((5, 1), np.float32),
    senders=np.array([0, 1, 2, 3, 0], np.int32), receivers=np.array([1, 2, 3, 0, 2], np.int32),
    n_node=np.array([4], np.int32), n_edge=np.array([5], np.int32), globals=None)


@jax.jit
def energy(graph, cutoff):
    near = jnp.where(graph.edges < cutoff, graph.edges, 0.0)
    return jraph.segment_sum(near * graph.nodes[graph.senders], graph.receivers, 4).sum()


def search(candidates):
    return min(candidates, key=lambda cutoff: float(energy(graph, cutoff)))  # <- cause, call


search([0.5, 1.5])
search(np.linspace(0.25, 1.0, 4, dtype=np.float32))
