# cause: shape
# subject: params['params']['stem']['kernel']
# old: f32[3,3,1,4]
# new: f32[5,5,1,4]
# program: jit_train_step
# reason: the first convolution gets a larger kernel; what is padded around the pictures follows from it

import functools

import flax.linen as nn
import jax
import numpy as np
import optax


class Net(nn.Module):
    kernel: int

    @nn.compact
    def __call__(self, images):
        x = nn.relu(nn.Conv(4, (self.kernel, self.kernel), name="stem")(images))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(4, (3, 3), name="body")(x))
        return nn.Dense(3, name="head")(x.mean(axis=(1, 2)))


@functools.partial(jax.jit, static_argnames="model")
def train_step(params, images, labels, model):
    def loss_fn(params):
        logits = model.apply(params, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


images, labels = np.ones((2, 8, 8, 1), np.float32), np.array([0, 2])
for kernel in (3, 5):
    model = Net(kernel)
    params = jax.jit(model.init)(jax.random.key(0), images)
    for _ in range(2):
        params, loss = train_step(params, images, labels, model=model)  # <- cause
