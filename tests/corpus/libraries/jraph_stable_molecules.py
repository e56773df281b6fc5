# cause: stable
# reason: molecules of any size are gathered until a batch of fixed size is full

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax


def molecules(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        atoms = int(rng.integers(2, 6))
        bonds = np.arange(atoms - 1, dtype=np.int32)
        yield jraph.GraphsTuple(
            nodes=rng.normal(size=(atoms, 3)).astype(np.float32),
            edges=np.ones((2 * len(bonds), 1), np.float32),
            senders=np.concatenate([bonds, bonds + 1]), receivers=np.concatenate([bonds + 1, bonds]),
            globals=np.full((1, 1), atoms, np.float32),
            n_node=np.array([atoms], np.int32), n_edge=np.array([2 * len(bonds)], np.int32))


def forward(graph):
    network = jraph.GraphNetwork(
        update_edge_fn=lambda edges, sent, received, _: hk.Linear(4)(jnp.concatenate([edges, sent, received], -1)),
        update_node_fn=lambda nodes, sent, received, _: jax.nn.relu(hk.Linear(4)(jnp.concatenate([nodes, received], -1))),
        update_global_fn=lambda nodes, edges, _: hk.Linear(1)(jnp.concatenate([nodes, edges], -1)))
    return network(graph).globals


net = hk.without_apply_rng(hk.transform(forward))
optimizer = optax.adam(1e-2)


@jax.jit
def update(params, opt_state, graph):
    def loss_fn(params):
        targets, mask = graph.globals, jraph.get_graph_padding_mask(graph)
        error = net.apply(params, graph._replace(globals=jnp.zeros_like(targets))) - targets
        return jnp.sum(error[:, 0] ** 2 * mask) / mask.sum()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


params = opt_state = None
for epoch in range(2):
    for graph in jraph.dynamically_batch(molecules(epoch, 9), n_node=16, n_edge=24, n_graph=4):
        if params is None:
            params = jax.jit(net.init)(jax.random.key(0), graph)
            opt_state = jax.jit(optimizer.init)(params)
        params, opt_state, loss = update(params, opt_state, graph)
    print(epoch, float(loss))
