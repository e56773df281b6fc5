# cause: stable
# reason: training with an average of the weights beside, which is evaluated every second step

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.LayerNorm()(nn.Dense(8)(x)))
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(2)(x)


model = Net()
rng = np.random.default_rng(0)
init = jax.jit(lambda key, x: model.init(key, x, train=False)["params"])
params = init(jax.random.key(0), jnp.ones((1, 5)))
optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 10))
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optimizer)
state = state.replace(step=jnp.asarray(0, jnp.int32))
average = jax.tree.map(jnp.copy, params)


@jax.jit
def train_step(state, average, batch, key):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["x"], train=True,
                                rngs={"dropout": jax.random.fold_in(key, state.step)})
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    state = state.apply_gradients(grads=grads)
    return state, optax.incremental_update(state.params, average, 0.01), loss


@jax.jit
def accuracy(params, batch):
    logits = model.apply({"params": params}, batch["x"], train=False)
    return jnp.mean(logits.argmax(-1) == batch["label"])


key = jax.random.key(1)
for step in range(6):
    batch = {"x": rng.normal(size=(8, 5)).astype(np.float32), "label": rng.integers(0, 2, 8)}
    state, average, loss = train_step(state, average, batch, key)
    if step % 2:
        print(step, float(loss), float(accuracy(average, batch)))
