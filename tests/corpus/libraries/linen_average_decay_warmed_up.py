# cause: constant
# subject: decay
# pattern: counter
# reason: the decay of the moving average is warmed up on the host, and is a static argument

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(12)(x))
        return nn.Dense(3)(nn.LayerNorm()(x))


@jax.jit
def train_step(state, x, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@functools.partial(jax.jit, static_argnames="decay")
def average(old, new, decay):
    return jax.tree.map(lambda o, n: decay * o + (1 - decay) * n, old, new)  # <- cause


@jax.jit
def accuracy(params, x, labels):
    return jnp.mean(model.apply({"params": params}, x).argmax(-1) == labels)


model = Classifier()
rng = np.random.default_rng(0)
x = rng.normal(size=(30, 5)).astype(np.float32)
labels = rng.integers(0, 3, 30).astype(np.int32)
params = jax.jit(model.init)(jax.random.key(0), x[:6])["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-2))
averaged = state.params
for step in range(5):
    rows = slice(6 * step, 6 * step + 6)
    state, loss = train_step(state, x[rows], labels[rows])
    decay = min(0.999, (1 + step) / (10 + step))
    averaged = average(averaged, state.params, decay=decay)  # <- call
print(float(accuracy(averaged, x, labels)))
