# cause: shape
# subject: batch['audio']
# old: f32[4,16,3]
# new: f32[4,24,3]
# program: jit_train_step
# advice: pad
# reason: the second stage of the curriculum cuts longer clips

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

STAGES = [{"frames": 16, "steps": 3}, {"frames": 24, "steps": 3}]


class KeywordSpotter(nn.Module):
    words: int

    @nn.compact
    def __call__(self, audio):
        x = nn.relu(nn.Conv(8, kernel_size=(3,))(audio))
        x = nn.relu(nn.Conv(8, kernel_size=(3,), strides=(2,))(x))
        return nn.Dense(self.words)(x.mean(axis=1))


def clips(rng, frames, count):
    for _ in range(count):
        recording = rng.normal(size=(4, 40, 3)).astype(np.float32)
        start = rng.integers(0, 40 - frames)
        yield {"audio": recording[:, start:start + frames], "word": rng.integers(0, 5, 4)}


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["audio"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["word"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def create_state():
    model = KeywordSpotter(5)
    params = jax.jit(model.init)(jax.random.key(0), np.ones((4, 16, 3), np.float32))["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))
    return state.replace(step=jnp.asarray(0, jnp.int32))


def main():
    rng = np.random.default_rng(7)
    state = create_state()
    for stage in STAGES:
        for batch in clips(rng, stage["frames"], stage["steps"]):
            state, loss = train_step(state, batch)  # <- cause
        print(stage["frames"], float(loss))


main()
