# cause: shape
# subject: images
# old: f32[8,6,6,1]
# new: f32[5,6,6,1]
# reason: the training loader drops the last batch, the validation loader keeps it

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class SmallNet(nn.Module):
    classes: int = 3

    @nn.compact
    def __call__(self, images):
        x = nn.relu(nn.Conv(4, (3, 3))(images))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = x.reshape(x.shape[0], -1)
        return nn.Dense(self.classes)(nn.relu(nn.Dense(8)(x)))


def batches(images, labels, size, drop_last):
    for start in range(0, len(images), size):
        stop = start + size
        if drop_last and stop > len(images):
            return
        yield images[start:stop], labels[start:stop]


@jax.jit
def train_step(state, images, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(params, images, labels):
    logits = model.apply({"params": params}, images)
    return jnp.sum(logits.argmax(-1) == labels)


rng = np.random.default_rng(0)
images = rng.normal(size=(37, 6, 6, 1)).astype(np.float32)
labels = rng.integers(0, 3, 37).astype(np.int32)
train, valid = slice(0, 16), slice(16, 37)
model = SmallNet()
params = jax.jit(model.init)(jax.random.key(0), images[:1])["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
for epoch in range(2):
    for x, y in batches(images[train], labels[train], 8, drop_last=True):
        state, loss = train_step(state, x, y)
    correct = 0
    for x, y in batches(images[valid], labels[valid], 8, drop_last=False):
        correct += int(eval_step(state.params, x, y))  # <- cause
    print(f"epoch {epoch}: loss {float(loss):.3f}, accuracy {correct / 21:.3f}")
