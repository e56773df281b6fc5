# cause: shape
# subject: batch
# old: i32[2,7]
# new: i32[2,11]
# reason: the curriculum goes on to longer sequences; positions, causal mask and next-token loss follow

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        length = tokens.shape[1]
        table = self.param("positions", nn.initializers.normal(0.02), (16, 8))
        x = nn.Embed(13, 8)(tokens) + table[:length]
        mask = nn.make_causal_mask(tokens)
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
        return nn.Dense(13)(nn.LayerNorm()(x))


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


model = Decoder()
params = jax.jit(model.init)(jax.random.key(0), np.zeros((1, 4), np.int32))["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))
for length in (7, 7, 11):
    batch = np.arange(2 * length, dtype=np.int32).reshape(2, length) % 13
    state, loss = train_step(state, batch)  # <- cause
