# cause: stable
# reason: the usual loop of flax: an eager init, a TrainState, batches of one size
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
        x = nn.relu(nn.Dense(8)(x))
        return nn.Dense(4)(x)


model = Classifier()
params = model.init(jax.random.key(0), jnp.ones((1, 12)))["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))


@jax.jit
def train_step(state, image, label):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, image)
        return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


rng = np.random.default_rng(0)
for _ in range(3):
    image = rng.normal(size=(8, 12)).astype(np.float32)
    label = rng.integers(0, 4, size=8).astype(np.int32)
    state, loss = train_step(state, image, label)
print(float(loss))
