# cause: shape
# subject: batch['tokens']
# old: i32[2,12]
# new: i32[2,7]
# pattern: unpadded
# advice: pad

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class LanguageModel(nn.Module):
    vocabulary: int = 17

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocabulary, 8)(tokens)
        return nn.Dense(self.vocabulary)(nn.relu(nn.Dense(8)(x)))


model = LanguageModel()
optimizer = optax.adam(1e-2)


@jax.jit
def update(params, opt_state, batch):
    def loss_fn(params):
        tokens = batch["tokens"]
        logits = model.apply(params, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


params = jax.jit(model.init)(jax.random.key(0), np.ones((2, 4), np.int32))
opt_state = jax.jit(optimizer.init)(params)
for length in (9, 14, 12, 7):
    batch = {"tokens": np.ones((2, length), np.int32)}
    params, opt_state, loss = update(params, opt_state, batch)  # <- cause
