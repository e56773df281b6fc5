# cause: stable
# reason: the nodes of one graph; a mask says which are trained on, another which are tested

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax


def network(graph):
    for width in (8, 3):
        graph = jraph.GraphConvolution(update_node_fn=hk.Linear(width), add_self_edges=True)(graph)
    return graph.nodes


rng = np.random.default_rng(0)
index = np.arange(7, dtype=np.int32)
graph = jraph.GraphsTuple(nodes=rng.normal(size=(7, 4)).astype(np.float32), edges=None,
                          senders=index, receivers=np.roll(index, 2),
                          globals=None, n_node=np.array([7], np.int32),
                          n_edge=np.array([7], np.int32))
labels = rng.integers(0, 3, 7)
net = hk.without_apply_rng(hk.transform(network))
optimizer = optax.adam(1e-2)
params = jax.jit(net.init)(jax.random.PRNGKey(0), graph)
opt_state = optimizer.init(params)


@jax.jit
def train_step(params, opt_state, graph, labels, mask):
    def loss_fn(params):
        logits = net.apply(params, graph)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return jnp.sum(losses * mask) / jnp.sum(mask)

    updates, opt_state = optimizer.update(jax.grad(loss_fn)(params), opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def accuracy(params, graph, labels, mask):
    right = net.apply(params, graph).argmax(-1) == labels
    return jnp.sum(right * mask) / jnp.sum(mask)


train = np.array([1, 1, 1, 1, 0, 0, 0], np.float32)
for epoch in range(4):
    params, opt_state = train_step(params, opt_state, graph, labels, train)
    known, unknown = (accuracy(params, graph, labels, mask) for mask in (train, 1 - train))
    print(float(known), float(unknown))
