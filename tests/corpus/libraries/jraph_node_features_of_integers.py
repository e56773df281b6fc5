# cause: dtype
# subject: graph.nodes
# old: f32[4,2]
# new: i32[4,2]

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np


def network(graph):
    convolve = jraph.GraphConvolution(hk.Linear(3), add_self_edges=True)
    return convolve(graph._replace(nodes=graph.nodes * 1.0)).nodes


def load(dtype):
    index = np.array([0, 1, 2, 3], np.int32)
    return jraph.GraphsTuple(np.ones((4, 2), dtype), None, index, index, None,
                             np.array([4], np.int32), np.array([4], np.int32))


transformed = hk.without_apply_rng(hk.transform(network))
params = jax.jit(transformed.init)(jax.random.key(0), load(np.float32))


@jax.jit
def predict(params, graph):
    return transformed.apply(params, graph)


def evaluate(datasets):
    for dtype in datasets:
        predict(params, load(dtype))  # <- cause


evaluate([np.float32, np.int32])
