# cause: stable
# reason: edges are drawn and left out on the host, always as many; one encoder serves training, ranking and recommending

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

NODES, NEGATIVES = 10, 6
optimizer = optax.chain(optax.clip(1.0), optax.adamw(5e-3))


def layer(params, nodes, graph):
    degree = jraph.segment_sum(jnp.ones(graph.senders.shape[0]), graph.receivers, NODES)
    received = jraph.segment_sum(nodes[graph.senders] @ params["message"], graph.receivers, NODES)
    return nodes @ params["own"] + received / jnp.maximum(degree, 1)[:, None]


@jax.jit
def encode(params, graph):
    hidden = jax.nn.relu(layer(params["first"], graph.nodes, graph))
    return layer(params["second"], hidden, graph)


def score(vectors, pairs):
    return jnp.sum(vectors[pairs[:, 0]] * vectors[pairs[:, 1]], axis=-1)


@jax.jit
def train_step(params, opt_state, graph, positive, negative):
    def loss_fn(params):
        vectors = encode(params, graph)
        on, off = score(vectors, positive), score(vectors, negative)
        return jnp.mean(jax.nn.softplus(-on)) + jnp.mean(jax.nn.softplus(off))

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def rank(vectors, positive, negative):
    return jnp.mean(score(vectors, positive)[:, None] > score(vectors, negative)[None, :])


@jax.jit
def recommend(vectors, node):
    likeness = jnp.where(jnp.arange(NODES) == node, -jnp.inf, vectors @ vectors[node])
    return jax.lax.top_k(likeness, 3)[1]


def init(seed):
    rng = np.random.default_rng(seed)
    sizes = {"first": (4, 6), "second": (6, 3)}
    return {name: {part: rng.normal(0, 0.3, size=size).astype(np.float32) for part in ("message", "own")}
            for name, size in sizes.items()}


def graph_of(features, edges):
    return jraph.GraphsTuple(nodes=features, edges=None, globals=None, senders=edges[:, 0],
                             receivers=edges[:, 1], n_node=np.array([NODES], np.int32),
                             n_edge=np.array([len(edges)], np.int32))


rng = np.random.default_rng(0)
features = rng.normal(size=(NODES, 4)).astype(np.float32)
edges = rng.integers(0, NODES, size=(24, 2)).astype(np.int32)
held_out, edges = edges[:4], edges[4:]
for seed in range(2):
    params = init(seed)
    opt_state = optimizer.init(params)
    for epoch in range(3):
        order = rng.permutation(len(edges))
        message, target = edges[order[:15]], edges[order[15:]]
        negative = rng.integers(0, NODES, size=(NEGATIVES, 2)).astype(np.int32)
        params, opt_state, loss = train_step(params, opt_state, graph_of(features, message), target, negative)
        vectors = encode(params, graph_of(features, edges))
        print(seed, epoch, float(loss), float(rank(vectors, held_out, negative)))
    for node in (0, 3):
        print(np.asarray(recommend(vectors, np.int32(node))))
