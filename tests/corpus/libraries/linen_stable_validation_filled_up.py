# cause: stable
# reason: training drops the last batch, validation fills it up and weighs its rows

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(3)(x)


model = Net()


@jax.jit
def train_step(state, key, x, y):
    key = jax.random.fold_in(key, state.step)

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, x, True, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(params, x, y, weight):
    logits = model.apply({"params": params}, x, False)
    return jnp.sum((logits.argmax(-1) == y) * weight), jnp.sum(weight)


def filled(x, y, size):
    for start in range(0, len(x), size):
        rows = slice(start, start + size)
        missing = size - len(x[rows])
        yield (np.pad(x[rows], ((0, missing), (0, 0))), np.pad(y[rows], (0, missing)),
               np.pad(np.ones(len(x[rows]), np.float32), (0, missing)))


rng = np.random.default_rng(0)
x = rng.normal(size=(45, 5)).astype(np.float32)
y = rng.integers(0, 3, 45).astype(np.int32)
params = jax.jit(model.init, static_argnums=2)(jax.random.key(0), x[:1], False)["params"]
state = TrainState.create(apply_fn=model.apply, params=params,
                          tx=optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 12)))
for epoch in range(3):
    order = rng.permutation(24)
    for start in range(0, 24, 8):
        rows = order[start:start + 8]
        state, loss = train_step(state, jax.random.key(1), x[rows], y[rows])
    right, count = np.sum([eval_step(state.params, *batch) for batch in filled(x[24:], y[24:], 8)], axis=0)
    print(f"{epoch}: {float(loss):.3f} {right / count:.3f}")
