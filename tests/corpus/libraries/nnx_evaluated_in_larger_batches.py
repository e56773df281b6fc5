# cause: shape
# subject: images
# old: f32[4,8,8,1]
# new: f32[10,8,8,1]
# reason: the test set is read in larger batches than the validation set

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, kernel_size=(3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.head = nnx.Linear(64, 3, rngs=rngs)

    def __call__(self, images):
        x = nnx.relu(self.norm(self.conv(images)))
        x = nnx.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        return self.head(x.reshape(x.shape[0], -1))


@nnx.jit
def accuracy(model, images, labels):
    return jnp.mean(jnp.argmax(model(images), -1) == labels)


model = Net(nnx.Rngs(0))
model.eval()
for rows in (4, 4, 10):
    images, labels = np.ones((rows, 8, 8, 1), np.float32), np.zeros(rows, np.int32)
    accuracy(model, images, labels)  # <- cause
