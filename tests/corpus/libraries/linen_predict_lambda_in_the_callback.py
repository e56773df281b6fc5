# cause: retrace
# reason: the callback at the end of each epoch jits a lambda anew

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (12, 6):
            x = nn.silu(nn.Dense(width)(x))
        return nn.Dense(2)(x)


class AccuracyCallback:
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.history = []

    def on_epoch_end(self, state):
        predict = jax.jit(lambda params, x: state.apply_fn({"params": params}, x).argmax(-1))
        predicted = predict(state.params, self.x)  # <- cause
        self.history.append(float(np.mean(np.asarray(predicted) == self.y)))


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, x)
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, y))

    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params))


rng = np.random.default_rng(0)
x = rng.normal(size=(24, 4)).astype(np.float32)
y = (x.sum(1) > 0).astype(np.int32)
model = Net()
state = TrainState.create(apply_fn=model.apply, tx=optax.adam(1e-2),
                          params=jax.jit(model.init)(jax.random.key(0), x)["params"])
callback = AccuracyCallback(x[16:], y[16:])
for epoch in range(4):
    for start in (0, 8):
        state = train_step(state, x[start:start + 8], y[start:start + 8])
    callback.on_epoch_end(state)  # <- call
print(callback.history)
