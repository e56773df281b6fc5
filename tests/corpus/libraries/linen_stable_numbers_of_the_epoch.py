# cause: stable
# reason: epoch and step are plain Python numbers in every call, and so arguments of one kind

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(8)(x))
        x = nn.Dropout(0.3, deterministic=not train)(x)
        return nn.Dense(3)(x)


net = Net()
key = jax.random.key(0)


@jax.jit
def train_step(state, batch, epoch, step):
    dropout = jax.random.fold_in(jax.random.fold_in(key, epoch), step)

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["x"], True, rngs={"dropout": dropout})
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean() * jnp.minimum(1.0, (epoch + 1) / 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def accuracy(params, batch):
    return jnp.mean(net.apply({"params": params}, batch["x"], False).argmax(-1) == batch["y"])


params = jax.jit(lambda key, x: net.init(key, x, False)["params"])(key, np.ones((1, 4), np.float32))
state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
state = state.replace(step=np.int32(0))
rng = np.random.default_rng(0)
for epoch in range(3):
    for step in range(2):
        batch = {"x": rng.normal(size=(4, 4)), "y": rng.integers(0, 3, 4)}
        state, loss = train_step(state, batch, epoch, step)
    print(f"epoch {epoch}: {float(loss):.3f} {float(accuracy(state.params, batch)):.2f}")
