# cause: structure
# reason: an option of the convolution: without it no degree is computed

import jax
import jax.numpy as jnp
import jraph
import numpy as np

index = np.arange(5, dtype=np.int32)
graph = jraph.GraphsTuple(np.ones((5, 3), np.float32), None, np.roll(index, 1), index, None,
                          np.array([5], np.int32), np.array([5], np.int32))


def make_logits(normalised):
    @jax.jit
    def logits(weights, graph):
        layer = jraph.GraphConvolution(lambda nodes: nodes @ weights, symmetric_normalization=normalised)
        graph = layer(graph)  # <- cause
        return jax.nn.log_softmax(graph.nodes)

    return logits


weights = np.ones((3, 4), np.float32)
for normalised in (True, False):
    make_logits(normalised)(weights, graph)  # <- call
