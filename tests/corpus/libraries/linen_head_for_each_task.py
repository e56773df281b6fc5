# cause: shape
# advice: same size
# and
# cause: size
# advice: !padded
# reason: each task has a head of its own width, also where the model is initialized; nothing can be padded

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct
from flax.training.train_state import TrainState

TASKS = {"topics": 12, "sentiment": 3}


class Classifier(nn.Module):
    classes: int
    width: int = 24

    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(self.width, name="body")(x))
        return nn.Dense(self.classes, name="head")(x)  # <- cause 2


@struct.dataclass
class Batch:
    features: np.ndarray
    labels: np.ndarray


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch.features)
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch.labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def create(task, classes):
    model = Classifier(classes)
    params = jax.jit(model.init)(jax.random.key(len(task)), jnp.zeros((1, 8)))["params"]
    return TrainState.create(apply_fn=model.apply, params=params, tx=tx)


def load(classes):
    rng = np.random.default_rng(classes)
    for _ in range(3):
        yield Batch(rng.normal(size=(10, 8)).astype(np.float32), rng.integers(0, classes, 10).astype(np.int32))


tx = optax.sgd(0.1, momentum=0.9)
for task, classes in TASKS.items():
    state = create(task, classes)
    for batch in load(classes):
        state, loss = train_step(state, batch)  # <- cause
    print(task, float(loss))
