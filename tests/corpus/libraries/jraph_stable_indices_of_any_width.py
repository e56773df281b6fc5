# cause: stable
# reason: indices are int64 from one source and int32 from another; without x64 they are one type for JAX

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

rng = np.random.default_rng(0)


def graph(index_type):
    senders = rng.integers(0, 6, 9).astype(index_type)
    return jraph.GraphsTuple(nodes=rng.normal(size=(6, 3)), edges=None, senders=senders,
                             receivers=np.flip(senders), globals=None,
                             n_node=np.array([6], index_type), n_edge=np.array([9], index_type))


def readout(params, graph):
    layer = jraph.GraphConvolution(lambda nodes: jax.nn.relu(nodes @ params["w"]),
                                   add_self_edges=True)
    return jnp.mean(layer(graph).nodes ** 2)


optimizer = optax.adam(1e-2)


@jax.jit
def train_step(params, opt_state, graph):
    loss, grads = jax.value_and_grad(readout)(params, graph)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


params = {"w": jnp.asarray(rng.normal(size=(3, 2)), jnp.float32)}
opt_state = optimizer.init(params)
for index_type in (np.int32, np.int64, np.int64, np.int32):
    params, opt_state, loss = train_step(params, opt_state, graph(index_type))
print(float(loss))
