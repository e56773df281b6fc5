# cause: constant
# subject: rate
# old: 0.1
# new: 0.3
# reason: more of the edges are dropped in training; the rate is compared with, and what is kept is divided by one minus it

import functools

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def keep_some(key, graph, rate):
    kept = jax.random.uniform(key, graph.senders.shape) >= rate  # <- cause
    return graph._replace(edges=graph.edges * kept[:, None] / (1 - rate))


def forward(params, graph):
    def update_edge(edges, senders, receivers, globals_):
        return edges * jnp.tanh((senders - receivers) @ params["edge"])

    def update_node(nodes, sent, received, globals_):
        return jax.nn.relu(nodes @ params["node"] + received)

    return jraph.GraphNetwork(update_edge, update_node)(graph).nodes


@functools.partial(jax.jit, static_argnames="rate")
def train_step(params, key, graph, targets, rate):
    def loss_fn(params):
        return jnp.mean((forward(params, keep_some(key, graph, rate)) - targets) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


senders = np.array([0, 1, 2, 3, 4, 0], np.int32)
graph = jraph.GraphsTuple(np.ones((5, 3), np.float32), np.ones((6, 3), np.float32), np.roll(senders, 1),
                          senders, None, np.array([5], np.int32), np.array([6], np.int32))
params = {"edge": np.ones((3, 3), np.float32), "node": np.ones((3, 3), np.float32)}
targets = np.zeros((5, 3), np.float32)
for epoch, rate in enumerate((0.1, 0.1, 0.3)):
    params, loss = train_step(params, jax.random.key(epoch), graph, targets, rate=rate)  # <- call
