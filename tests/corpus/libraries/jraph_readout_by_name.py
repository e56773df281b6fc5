# cause: structure
# reason: the configuration names how the nodes of a graph are put together: their sum, or their mean

import jax
import jax.numpy as jnp
import jraph
import numpy as np

READOUTS = {"sum": jraph.segment_sum, "mean": jraph.segment_mean}


def make_predict(config):
    readout = READOUTS[config["readout"]]

    def predict(params, nodes, graph_of_node):
        hidden = jax.nn.relu(nodes @ params["in"])
        pooled = readout(hidden, graph_of_node, num_segments=3)  # <- cause
        return pooled @ params["out"]

    return jax.jit(predict)


params = {"in": np.ones((4, 6), np.float32), "out": np.ones((6, 1), np.float32)}
graph_of_node = np.array([0, 0, 1, 1, 1, 2, 2], np.int32)
for config in ({"readout": "sum"}, {"readout": "mean"}):
    predict = make_predict(config)
    for fold in range(2):
        predict(params, np.full((7, 4), fold, np.float32), graph_of_node)  # <- call
