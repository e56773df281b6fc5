# cause: shape
# subject: video
# old: f32[2,5,6]
# new: f32[2,9,6]
# reason: the recurrent cell is scanned over the frames of a video, of which the second set has more

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Recogniser(nnx.Module):
    def __init__(self, rngs):
        self.frame = nnx.Linear(6, 8, rngs=rngs)
        self.cell = nnx.GRUCell(8, 5, recurrent_kernel_init=nnx.initializers.lecun_normal(), rngs=rngs)
        self.head = nnx.Linear(5, 3, rngs=rngs)

    def __call__(self, video):
        features = nnx.relu(self.frame(video))

        def advance(carry, frame):
            carry, out = self.cell(carry, frame)
            return carry, out

        start = jnp.zeros((video.shape[0], 5))
        last, _ = jax.lax.scan(advance, start, jnp.swapaxes(features, 0, 1))
        return self.head(last)


@nnx.jit
def train_step(model, optimizer, video, labels):
    def loss_fn(model):
        logits = model(video)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = nnx.jit(lambda: Recogniser(nnx.Rngs(0)))()
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
labels = np.array([0, 2], np.int32)
for frames in (5, 5, 9):
    train_step(model, optimizer, np.ones((2, frames, 6), np.float32), labels)  # <- cause
