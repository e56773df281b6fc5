# cause: arguments
# subject: labels['solubility']
# old: absent
# new: f32[]
# pattern: subsets
# advice: same keys
# reason: each batch of molecules has only the assays that were measured for it

import jax
import jax.numpy as jnp
import jraph
import numpy as np

TASKS = ("binding", "solubility", "toxicity")


@jax.jit
def loss(params, graph, labels):
    nodes = jax.nn.relu(graph.nodes @ params["encoder"])
    sent = jraph.segment_sum(nodes[graph.senders], graph.receivers, nodes.shape[0])
    pooled = jnp.mean(nodes + sent, axis=0)
    total = params["heads"] ** 2 + jnp.mean(pooled)
    for at, task in enumerate(TASKS):
        if task in labels:
            total = total + (params["heads"] * pooled[at] - labels[task]) ** 2
    return total


ring = np.arange(5, dtype=np.int32)
graph = jraph.GraphsTuple(
    nodes=np.ones((5, 3), np.float32), edges=None, senders=ring, receivers=np.roll(ring, 1),
    globals=None, n_node=np.array([5], np.int32), n_edge=np.array([5], np.int32))
params = {"encoder": np.ones((3, 4), np.float32), "heads": np.float32(0.5)}
measured = ((), ("toxicity",), ("binding",), ("binding", "solubility"))
for tasks in measured:
    labels = {task: np.float32(1) for task in tasks}
    print(float(loss(params, graph, labels)))  # <- cause
