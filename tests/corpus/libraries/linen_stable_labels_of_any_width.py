# cause: stable
# reason: without x64 JAX makes int32 and float32 of NumPy's int64 and float64 before it compiles

import flax.linen as nn
import jax
import numpy as np
import optax


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.tanh(nn.Dense(8)(x)))


model = Classifier()
params = jax.jit(model.init)(jax.random.key(0), np.zeros((4, 5), np.float32))


@jax.jit
def train_step(params, x, labels):
    def loss_fn(params):
        logits = model.apply(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


for x_type, label_type in ((np.float32, np.int32), (np.float64, np.int64), (np.float32, np.int64)):
    x = np.random.default_rng(0).normal(size=(4, 5)).astype(x_type)
    params, loss = train_step(params, x, np.arange(4).astype(label_type) % 3)
    print(float(loss))
