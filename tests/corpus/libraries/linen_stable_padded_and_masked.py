# cause: stable
# reason: the last batch is filled up and masked on the host, figures are averaged in NumPy

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

BATCH = 4


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(8)(x))
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(3)(x)


def losses(state, params, batch, train, rngs=None):
    logits = state.apply_fn({"params": params}, batch["x"], train, rngs=rngs)
    each = optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"])
    return jnp.sum(each * batch["mask"]) / jnp.sum(batch["mask"])


@jax.jit
def train_step(state, batch, key):
    rngs = {"dropout": jax.random.fold_in(key, state.step)}
    loss, grads = jax.value_and_grad(lambda p: losses(state, p, batch, True, rngs))(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(state, batch):
    return losses(state, state.params, batch, False)


def batches(x, label):
    for at in range(0, len(x), BATCH):
        rows = len(x[at:at + BATCH])
        fill = BATCH - rows
        yield {"x": np.pad(x[at:at + BATCH], ((0, fill), (0, 0))),
               "label": np.pad(label[at:at + BATCH], (0, fill)),
               "mask": (np.arange(BATCH) < rows).astype(np.float32)}


rng = np.random.default_rng(0)
x, label = rng.normal(size=(10, 5)).astype(np.float32), rng.integers(0, 3, 10).astype(np.int32)
model = Net()
params = jax.jit(model.init, static_argnums=2)(jax.random.key(0), x[:BATCH], False)["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
state = state.replace(step=jnp.asarray(0, jnp.int32))
for epoch in range(2):
    for batch in batches(x, label):
        state, loss = train_step(state, batch, jax.random.key(9))
    print(epoch, np.mean([float(eval_step(state, batch)) for batch in batches(x, label)]))
