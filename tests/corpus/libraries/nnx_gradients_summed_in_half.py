# cause: dtype
# subject: total['head']['bias']...
# old: f32[3]
# new: bf16[3]
# reason: to save memory the gradients of the second phase are summed in bfloat16

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.head = nnx.Linear(6, 3, rngs=rngs)
        self.stem = nnx.Linear(4, 6, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.stem(x)))


graph, params = nnx.split(nnx.jit(lambda: Net(nnx.Rngs(0)))(), nnx.Param)


@jax.jit
def micro_step(params, total, x, labels):
    def loss_fn(params):
        logits = nnx.merge(graph, params)(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda t, g: t + g.astype(t.dtype), total, grads), loss


x, labels = np.ones((5, 4), np.float32), np.array([0, 1, 2, 1, 0], np.int32)
for dtype in (jnp.float32, jnp.bfloat16):
    total = jax.tree.map(lambda p: np.zeros(p.shape, dtype), params)
    for _ in range(3):
        total, loss = micro_step(params, total, x, labels)  # <- cause
