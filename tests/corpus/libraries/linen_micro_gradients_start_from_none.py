# cause: gradient
# subject: grads['Dense_0']['bias']
# old: create
# new: accumulate
# advice: zeros_like
# reason: the first micro-batch has no gradients to add to

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(7)(x)))


model = Classifier()
state = TrainState.create(
    apply_fn=model.apply, tx=optax.sgd(0.1),
    params=jax.jit(model.init)(jax.random.key(0), np.ones((1, 5), np.float32))["params"])


@jax.jit
def micro_step(params, images, labels, grads):
    def loss_fn(params):
        logits = model.apply({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    new = jax.grad(loss_fn)(params)
    if grads is None:
        return new
    return jax.tree.map(jnp.add, grads, new)  # <- cause


apply_gradients = jax.jit(lambda state, grads: state.apply_gradients(grads=grads))
images, labels = np.ones((4, 5), np.float32), np.zeros(4, np.int32)
grads = None
for _ in range(3):
    grads = micro_step(state.params, images, labels, grads)  # <- call
state = apply_gradients(state, grads)
