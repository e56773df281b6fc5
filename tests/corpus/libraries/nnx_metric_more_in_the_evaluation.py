# cause: arguments
# old: absent
# reason: the test is measured by one metric more than the validation; each metric holds arrays of its own

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


@nnx.jit
def eval_step(model, metrics, x, labels):
    logits = model(x)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    metrics.update(loss=losses, logits=logits, labels=labels)


model = nnx.jit(lambda rngs: nnx.Linear(4, 3, rngs=rngs))(nnx.Rngs(0))
x, labels = np.ones((6, 4), np.float32), np.array([0, 1, 2, 0, 1, 2], np.int32)
validation = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
test = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
for metrics in (validation, validation, test):
    eval_step(model, metrics, x, labels)  # <- cause
