# cause: constant
# subject: real
# old: 5
# new: 4
# reason: the graphs are padded to one size, but the number of real nodes is static

import functools

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

NODES, EDGES = 8, 12
optimizer = optax.adam(1e-2)


def ring(count, rng):
    nodes = np.arange(count, dtype=np.int32)
    return jraph.GraphsTuple(
        nodes=rng.normal(size=(count, 3)).astype(np.float32), edges=None, senders=nodes,
        receivers=np.roll(nodes, 1), n_node=np.array([count], np.int32),
        n_edge=np.array([count], np.int32), globals=None)


@functools.partial(jax.jit, static_argnames="real")
def train_step(params, opt_state, graph, labels, real):
    def loss_fn(params):
        messages = graph.nodes[graph.senders] @ params["message"]
        gathered = jraph.segment_sum(messages, graph.receivers, NODES)
        logits = jnp.tanh(gathered + graph.nodes @ params["message"]) @ params["out"]
        losses = optax.sigmoid_binary_cross_entropy(logits, labels)
        mask = jnp.arange(NODES) < real  # <- cause
        return jnp.sum(jnp.where(mask, losses, 0.0)) / jnp.sum(mask)

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
params = {"message": 0.1 * np.ones((3, 6), np.float32), "out": np.ones(6, np.float32)}
opt_state = jax.jit(optimizer.init)(params)
for count in (5, 5, 4):
    graph = jraph.pad_with_graphs(ring(count, rng), n_node=NODES, n_edge=EDGES, n_graph=2)
    labels = np.zeros(NODES, np.float32)
    params, opt_state = train_step(params, opt_state, graph, labels, real=count)  # <- call
