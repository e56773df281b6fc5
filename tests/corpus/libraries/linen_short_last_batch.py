# cause: shape
# subject: batch['image']
# old: f32[8,12]
# new: f32[5,12]
# advice: pad
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(16)(x))
        return nn.Dense(4)(x)


def create_state(key):
    model = Classifier()
    params = model.init(key, jnp.ones((1, 12)))["params"]
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["image"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def epoch(images, labels, size):
    for start in range(0, len(images), size):
        yield {"image": images[start:start + size], "label": labels[start:start + size]}


rng = np.random.default_rng(0)
images = rng.normal(size=(21, 12)).astype(np.float32)
labels = rng.integers(0, 4, size=21).astype(np.int32)
state = create_state(jax.random.key(0))
for batch in epoch(images, labels, 8):
    state, loss = train_step(state, batch)  # <- cause
