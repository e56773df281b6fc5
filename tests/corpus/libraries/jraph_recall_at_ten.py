# cause: size
# old: 5
# new: 10
# reason: recall is reported at 5 and at 10 neighbours, a static argument

import functools

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def embed(params, graph):
    messages = graph.nodes[graph.senders] @ params["message"]
    received = jraph.segment_mean(messages, graph.receivers, graph.nodes.shape[0])
    return jnp.tanh(graph.nodes @ params["self"] + received)


@functools.partial(jax.jit, static_argnames="k")
def recall(params, graph, wanted, k):
    nodes = embed(params, graph)
    scores = nodes @ nodes.T
    _, best = jax.lax.top_k(scores, k)  # <- cause
    return jnp.mean(jnp.any(best == wanted[:, None], axis=-1))


rng = np.random.default_rng(0)
size, edges = 20, 48
graph = jraph.GraphsTuple(
    nodes=rng.normal(size=(size, 6)).astype(np.float32), edges=None,
    senders=rng.integers(0, size, edges).astype(np.int32),
    receivers=rng.integers(0, size, edges).astype(np.int32), globals=None,
    n_node=np.array([size], np.int32), n_edge=np.array([edges], np.int32))
params = {"self": rng.normal(size=(6, 8)).astype(np.float32),
          "message": rng.normal(size=(6, 8)).astype(np.float32)}
wanted = rng.integers(0, size, size).astype(np.int32)
for k in (5, 10):
    print(f"recall@{k}", float(recall(params, graph, wanted, k=k)))  # <- call
