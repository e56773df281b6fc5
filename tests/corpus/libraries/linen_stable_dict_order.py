# cause: stable
# reason: batches of one form: keys in any order, int64 and int32 of NumPy, arrays of NumPy and of JAX

import flax.linen as nn
import jax
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, tokens, weights):
        x = nn.Embed(11, 8)(tokens).mean(1)
        return nn.Dense(3)(x) * weights[:, None]


model = Net()
state = train_state.TrainState.create(
    apply_fn=model.apply, tx=optax.adamw(1e-3),
    params=model.init(jax.random.key(0), np.ones((1, 5), np.int32), np.ones(1))["params"])


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["tokens"], batch["weights"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def loader(rng):
    for number in range(6):
        batch = {"tokens": rng.integers(0, 11, (4, 5)), "labels": rng.integers(0, 3, 4),
                 "weights": rng.uniform(size=4)}
        if number % 2:
            batch = dict(reversed(batch.items()))
        if number % 3 == 2:
            batch = {"weights": batch["weights"].astype(np.float32),
                     "tokens": batch["tokens"].astype(np.int32),
                     "labels": jax.device_put(batch["labels"])}
        yield batch


for batch in loader(np.random.default_rng(0)):
    state, loss = train_step(state, batch)
print(float(loss))
