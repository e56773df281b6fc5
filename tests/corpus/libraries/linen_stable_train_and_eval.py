# cause: stable
# reason: one function for training and one for evaluation, batch norm and dropout in both

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(8)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Dropout(0.2, deterministic=not train)(nn.relu(x))
        return nn.Dense(3)(x)


class State(train_state.TrainState):
    batch_stats: dict
    key: jax.Array


@jax.jit
def train_step(state, batch):
    key = jax.random.fold_in(state.key, state.step)

    def loss_fn(params):
        logits, updates = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats}, batch["x"], train=True,
            mutable=["batch_stats"], rngs={"dropout": key})
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()
        return loss, updates

    (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    return state.replace(batch_stats=updates["batch_stats"]), loss


@jax.jit
def eval_step(state, batch):
    logits = state.apply_fn({"params": state.params, "batch_stats": state.batch_stats},
                            batch["x"], train=False)
    return jnp.sum(jnp.argmax(logits, -1) == batch["y"])


model = Net()
x, y = np.ones((12, 5), np.float32), np.arange(12, dtype=np.int32) % 3
variables = model.init(jax.random.key(0), jnp.ones((1, 5)), train=False)
state = State.create(apply_fn=model.apply, params=variables["params"], tx=optax.adamw(1e-3),
                     batch_stats=variables["batch_stats"], key=jax.random.key(1))
for epoch in range(2):
    for start in range(0, 12, 4):
        batch = {"x": x[start:start + 4], "y": y[start:start + 4]}
        state, loss = train_step(state, batch)
    right = sum(int(eval_step(state, {"x": x[i:i + 6], "y": y[i:i + 6]})) for i in (0, 6))
    print(epoch, float(loss), right / 12)
