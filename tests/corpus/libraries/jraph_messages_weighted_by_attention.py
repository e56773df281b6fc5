# cause: structure
# program: jit_train_step
# reason: the second variant of an ablation weighs its messages; it has no weights of its own for that

import dataclasses
import functools

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Variant:
    attention: bool = False
    rounds: int = 1


def forward(params, graph, variant):
    nodes = graph.nodes
    count = nodes.shape[0]
    for _ in range(variant.rounds):
        messages = nodes[graph.senders] @ params["message"]
        if variant.attention:
            messages *= jraph.segment_softmax(messages.sum(-1), graph.receivers, count)[:, None]  # <- cause
        received = jraph.segment_sum(messages, graph.receivers, count)
        nodes = jnp.tanh(nodes @ params["own"] + received)
    return nodes @ params["out"]


optimizer = optax.adam(1e-2)


@functools.partial(jax.jit, static_argnames="variant")
def train_step(params, opt_state, graph, labels, variant):
    def loss_fn(params):
        logits = forward(params, graph, variant)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
graph = jraph.GraphsTuple(nodes=rng.normal(size=(7, 4)).astype(np.float32), edges=None, globals=None,
                          senders=rng.integers(0, 7, 12).astype(np.int32),
                          receivers=rng.integers(0, 7, 12).astype(np.int32),
                          n_node=np.array([7], np.int32), n_edge=np.array([12], np.int32))
labels = rng.integers(0, 2, 7).astype(np.int32)
for variant in (Variant(), Variant(attention=True)):
    params = {"message": np.full((4, 4), 0.1, np.float32), "own": np.eye(4, dtype=np.float32),
              "out": np.full((4, 2), 0.1, np.float32)}
    opt_state = optimizer.init(params)
    for _ in range(2):
        params, opt_state, loss = train_step(params, opt_state, graph, labels, variant)  # <- call
    print(variant, float(loss))
