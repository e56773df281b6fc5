# cause: stable
# reason: graphs of any size, padded to one budget of nodes, edges and graphs

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

rng = np.random.default_rng(0)


def molecule():
    nodes, edges = rng.integers(2, 6), rng.integers(2, 9)
    return jraph.GraphsTuple(
        nodes=rng.normal(size=(nodes, 3)).astype(np.float32), edges=None,
        senders=rng.integers(0, nodes, edges).astype(np.int32),
        receivers=rng.integers(0, nodes, edges).astype(np.int32),
        n_node=np.array([nodes], np.int32), n_edge=np.array([edges], np.int32),
        globals=rng.normal(size=(1, 1)).astype(np.float32))


def network(graphs):
    layer = jraph.GraphConvolution(hk.Sequential([hk.Linear(8), jax.nn.relu]))
    hidden = layer(graphs).nodes
    count = graphs.n_node.shape[0]
    ids = jnp.repeat(jnp.arange(count), graphs.n_node, total_repeat_length=hidden.shape[0])
    return hk.Linear(1)(jraph.segment_mean(hidden, ids, count))


net = hk.without_apply_rng(hk.transform(network))
optimizer = optax.adam(1e-2)


@jax.jit
def train_step(params, state, graphs):
    def loss(params):
        error = (net.apply(params, graphs) - graphs.globals) ** 2
        mask = jraph.get_graph_padding_mask(graphs)[:, None]
        return jnp.sum(error * mask) / jnp.sum(mask)
    value, grads = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, value


def batches(count):
    for _ in range(count):
        graphs = jraph.batch_np([molecule() for _ in range(rng.integers(2, 5))])
        yield jraph.pad_with_graphs(graphs, n_node=32, n_edge=48, n_graph=6)


params = state = None
for graphs in batches(5):
    if params is None:
        params = net.init(jax.random.key(0), graphs)
        state = optimizer.init(params)
    params, state, value = train_step(params, state, graphs)
print(float(value))
