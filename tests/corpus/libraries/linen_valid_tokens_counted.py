# cause: size
# old: 11
# new: 9
# reason: the tokens of a pack come before its padding; how many there are is read on the host and static

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

PACK = 16


class Tagger(nn.Module):
    tags: int = 5

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(20, 8)(tokens)
        return nn.Dense(self.tags)(nn.relu(nn.Dense(8)(x)))


model = Tagger()
optimizer = optax.adam(1e-3)


def pack(sentences):
    tokens = np.concatenate(sentences)
    return np.pad(tokens, (0, PACK - len(tokens))), len(tokens)


@functools.partial(jax.jit, static_argnames="count")
def train_step(params, opt_state, tokens, tags, count):
    def loss_fn(params):
        logits = model.apply(params, tokens)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, tags)
        return losses[:count].mean()  # <- cause

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
params = jax.jit(model.init)(jax.random.key(0), np.zeros(PACK, np.int32))
opt_state = jax.jit(optimizer.init)(params)
for lengths in ((4, 7), (6, 5), (3, 6)):
    tokens, count = pack([rng.integers(1, 20, length).astype(np.int32) for length in lengths])
    tags = rng.integers(0, 5, PACK).astype(np.int32)
    params, opt_state, loss = train_step(params, opt_state, tokens, tags, count=count)  # <- call
    print(f"{count} tokens: {float(loss):.3f}")
