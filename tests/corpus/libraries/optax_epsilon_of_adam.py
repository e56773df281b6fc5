# cause: constant
# subject: eps
# old: 1e-08
# new: 1e-06
# program: jit_update
# reason: in the second sweep the epsilon of Adam is larger

import jax
import jax.numpy as jnp
import numpy as np
import optax


def loss_fn(params, tokens, labels):
    rows = params["table"][tokens]
    weights = jax.nn.softmax(rows @ params["query"], axis=-1)
    pooled = jnp.einsum("bt,btd->bd", weights, rows)
    logits = pooled @ params["head"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def trainer(eps):
    optimizer = optax.adam(1e-3, eps=eps)

    @jax.jit
    def update(params, opt_state, tokens, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens, labels)
        updates, opt_state = optimizer.update(grads, opt_state)  # <- cause
        return optax.apply_updates(params, updates), opt_state, loss

    return update, optimizer.init


params = {"table": np.ones((7, 4), np.float32), "query": np.ones(4, np.float32),
          "head": np.ones((4, 3), np.float32)}
tokens, labels = np.array([[1, 2, 3], [4, 5, 6]], np.int32), np.array([0, 2], np.int32)
for eps in (1e-8, 1e-6):
    update, init = trainer(eps)
    opt_state = init(params)
    for _ in range(2):
        params, opt_state, loss = update(params, opt_state, tokens, labels)  # <- call
