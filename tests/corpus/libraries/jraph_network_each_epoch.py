# cause: retrace
# advice: once | partial in the loop | __eq__

import jax
import jax.numpy as jnp
import jraph
import numpy as np

index = np.array([0, 1, 2], np.int32)
GRAPH = jraph.GraphsTuple(np.ones((3, 2), np.float32), None, index, np.roll(index, 1), None,
                          np.array([3], np.int32), np.array([3], np.int32))


def make_train_step(rate):
    @jax.jit
    def train_step(w, graph):
        def loss(w):
            layer = jraph.GraphConvolution(lambda nodes: nodes @ w)
            return jnp.mean(layer(graph).nodes ** 2)
        return w - rate * jax.grad(loss)(w)
    return train_step


w = np.ones((2, 2), np.float32)
for epoch in range(3):
    train_step = make_train_step(0.1)
    for _ in range(2):
        w = train_step(w, GRAPH)  # <- cause
