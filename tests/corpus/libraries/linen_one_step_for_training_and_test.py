# cause: structure
# reason: dropout draws random numbers in training only; one jitted function has a static flag for both

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Tagger(nn.Module):
    tags: int

    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(32, name="hidden")(x))
        x = nn.Dropout(0.2, deterministic=not train)(x)  # <- cause
        return nn.Dense(self.tags, name="tags")(x)


model = Tagger(5)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@functools.partial(jax.jit, static_argnames="train")
def run_batch(params, batch, key, train):
    logits = model.apply({"params": params}, batch["x"], train, rngs={"dropout": key})
    return {"loss": cross_entropy(logits, batch["y"]),
            "accuracy": (logits.argmax(-1) == batch["y"]).mean()}


def batches(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield {"x": rng.normal(size=(16, 12)).astype(np.float32),
               "y": rng.integers(0, 5, 16).astype(np.int32)}


params = jax.jit(lambda key, x: model.init(key, x, False))(jax.random.key(1), jnp.zeros((1, 12)))["params"]
for epoch in range(2):
    keys = jax.random.split(jax.random.key(epoch), 3)
    for key, batch in zip(keys, batches(epoch, 3)):
        figures = run_batch(params, batch, key, train=True)
    for key, batch in zip(keys, batches(99, 2)):
        figures = run_batch(params, batch, key, train=False)
    print(epoch, {name: float(value) for name, value in figures.items()})
