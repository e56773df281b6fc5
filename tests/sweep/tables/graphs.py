"""Graphs of jraph: segments, and whole networks."""

from plan import Recipe

IMPORTS = "import jraph"

EDGES = "edges: f32[n,3]; senders: i32[n]; receivers: i32[n]"

BODIES = {
    "data: f32[n,4]; ids: i32[n]": """
        segment_sum: jraph.segment_sum(data, ids, 3)
        segment_mean: jraph.segment_mean(data, ids, 3)
        segment_max: jraph.segment_max(data, ids, 3)
        segment_min: jraph.segment_min(data, ids, 3)
        segment_variance: jraph.segment_variance(data, ids, 3)
        segment_normalize: jraph.segment_normalize(data, ids, 3)
        segment_softmax: jraph.segment_softmax(data, ids, 3)
        segment_max_or: jraph.segment_max_or_constant(data, ids, 3)
        segment_min_or: jraph.segment_min_or_constant(data, ids, 3)
        segment_grad: jax.grad(lambda data: (jraph.segment_mean(data, ids, 3) ** 2).sum())(data)
        segment_softmax_grad: jax.grad(lambda data: (jraph.segment_softmax(data, ids, 3) ** 2).sum())(data)
    """,
    EDGES: """
        degrees: jraph.segment_sum(jnp.ones(edges.shape[0]), receivers, 5)
        messages: jraph.segment_sum(edges * jnp.ones((5, 3))[senders], receivers, 5)
        attention_edges: jraph.segment_softmax(edges.sum(1), receivers, 5)
        network: jraph.GraphNetwork(update_edge_fn=lambda e, s, r, g: e + s[:, :3] + r[:, :3], update_node_fn=lambda v, s, r, g: v * 2 + s + r)(GRAPH)
        network_globals: jraph.GraphNetwork(update_edge_fn=lambda e, s, r, g: e * 2, update_node_fn=lambda v, s, r, g: v + r, update_global_fn=lambda v, e, g: g + v + e)(GRAPH)
        convolution: jraph.GraphConvolution(update_node_fn=lambda v: v @ jnp.ones((3, 2)))(GRAPH)
        interaction: jraph.InteractionNetwork(update_edge_fn=lambda e, s, r: e + s + r, update_node_fn=lambda v, r: v + r)(GRAPH)
        deep_sets: jraph.DeepSets(update_node_fn=lambda v, g: v + g, update_global_fn=lambda v: v * 2)(GRAPH)
        relation: jraph.RelationNetwork(update_edge_fn=lambda s, r: s * r, update_global_fn=lambda e: e * 2)(GRAPH)
        features: jraph.GraphMapFeatures(embed_edge_fn=lambda e: e @ jnp.ones((3, 2)), embed_node_fn=lambda v: v * 2)(GRAPH)
        two_rounds: (lambda net: net(net(GRAPH)))(jraph.GraphNetwork(update_edge_fn=lambda e, s, r, g: jnp.tanh(e + s + r), update_node_fn=lambda v, s, r, g: v + s + r))
        grad_network: jax.grad(lambda edges: (jraph.GraphNetwork(update_edge_fn=lambda e, s, r, g: e + s, update_node_fn=lambda v, s, r, g: v + r)(GRAPH).nodes ** 2).mean())(edges)
    """,
}
GRAPH = "jraph.GraphsTuple(jnp.ones((5, 3)), edges, receivers, senders, jnp.ones((1, 3)), jnp.array([5]), jnp.array([edges.shape[0]]))"


def recipes():
    for arguments, bodies in BODIES.items():
        for line in bodies.strip().splitlines():
            name, body = line.strip().split(": ", 1)
            yield Recipe(f"jraph_{name}", arguments, body.replace("GRAPH", GRAPH),
                         dtypes=(arguments.split(":")[0],))


RECIPES = list(recipes())
