# cause: shape
# subject: batch.nodes
# old: f32[12,3]
# new: f32[20,3]
# and
# cause: shape
# subject: batch.edges
# old: f32[14,2]
# new: f32[24,2]
# and
# cause: shape
# subject: batch.n_node
# old: i32[3]
# new: i32[4]
# reason: evaluation pads to more nodes, edges and graphs than training: three sizes, each of its own

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def molecule(atoms):
    index = np.arange(atoms, dtype=np.int32)
    return jraph.GraphsTuple(
        nodes=np.ones((atoms, 3), np.float32), edges=np.ones((atoms, 2), np.float32),
        senders=index, receivers=np.roll(index, 1), globals=np.zeros((1, 2), np.float32),
        n_node=np.array([atoms], np.int32), n_edge=np.array([atoms], np.int32))


@jax.jit
def predict(params, batch):
    def message(edges, sent, received, globals_):
        return jnp.tanh(jnp.concatenate([edges, sent, received], -1) @ params["edge"])

    def node(nodes, sent, received, globals_):
        return jax.nn.relu(jnp.concatenate([nodes, received], -1) @ params["node"])

    def whole(nodes, edges, globals_):
        return jnp.concatenate([nodes, edges], -1) @ params["global"]

    net = jraph.GraphNetwork(message, node, whole)
    answer = net(batch).globals
    mask = jraph.get_graph_padding_mask(batch)
    return jnp.where(mask[:, None], answer, 0).sum(0) / mask.sum()


params = {"edge": np.ones((8, 4), np.float32), "node": np.ones((7, 5), np.float32),
          "global": np.ones((9, 1), np.float32)}
train = jraph.pad_with_graphs(jraph.batch_np([molecule(4), molecule(5)]), 12, 14, 3)
test = jraph.pad_with_graphs(jraph.batch_np([molecule(4), molecule(5), molecule(6)]), 20, 24, 4)
for batch in (train, train, test):
    predict(params, batch)  # <- cause, cause 2, cause 3
