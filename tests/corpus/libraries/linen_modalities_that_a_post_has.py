# cause: arguments
# pattern: subsets
# advice: same keys | zeros
# reason: a batch has the modalities that its posts have: audio, picture, place

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Fusion(nn.Module):
    @nn.compact
    def __call__(self, batch):
        total = nn.Dense(8, name="text")(batch["text"])
        for name in ("audio", "picture", "place"):
            dense = nn.Dense(8, name=name)
            if self.is_initializing() or name in batch:
                total = total + dense(batch[name])
        return nn.Dense(3, name="head")(nn.relu(total))


model = Fusion()
optimizer = optax.sgd(0.1, momentum=0.9)


@jax.jit
def train_step(params, opt_state, batch, labels):
    def loss_fn(params):
        logits = model.apply(params, batch)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


WIDTHS = {"text": 6, "audio": 4, "picture": 5, "place": 2}


def posts():
    rng = np.random.default_rng(0)
    for names in ((), ("audio",), ("picture", "place"), ("audio", "place"), ("picture",)):
        batch = {name: rng.normal(size=(4, WIDTHS[name])).astype(np.float32) for name in ("text", *names)}
        yield batch, rng.integers(0, 3, 4).astype(np.int32)


everything = {name: np.zeros((4, width), np.float32) for name, width in WIDTHS.items()}
params = jax.jit(model.init)(jax.random.key(0), everything)
opt_state = jax.jit(optimizer.init)(params)
for batch, labels in posts():
    params, opt_state, loss = train_step(params, opt_state, batch, labels)  # <- cause
    print(sorted(batch), float(loss))
