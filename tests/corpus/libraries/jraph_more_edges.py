# cause: shape
# subject: receivers
# old: i32[4]
# new: i32[7]
# reason: arguments that are given by name are in the order of their names

import functools

import jax
import jraph
import numpy as np


@functools.partial(jax.jit, static_argnames="num_nodes")
def aggregate(features, senders, receivers, num_nodes):
    return jraph.segment_sum(features[senders], receivers, num_nodes)


class Layer:
    def __call__(self, features, edges):
        senders, receivers = edges.T
        return aggregate(features, receivers=receivers, senders=senders, num_nodes=5)  # <- cause


features = np.ones((5, 2), np.float32)
layer = Layer()
for count in (4, 7):
    layer(features, np.zeros((count, 2), np.int32))
