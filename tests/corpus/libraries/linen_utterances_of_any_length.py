# cause: shape
# pattern: unpadded
# subject: batch['frames']
# advice: Pad
# reason: each batch is padded to its longest recording only

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Acoustic(nn.Module):
    units: int = 12

    @nn.compact
    def __call__(self, frames):
        x = nn.Conv(self.units, kernel_size=(3,))(frames)
        x = nn.relu(x)
        return nn.Dense(6)(x)


def recordings(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.normal(size=(rng.integers(20, 60), 4)).astype(np.float32)


def collate(items):
    longest = max(len(item) for item in items)
    frames = np.zeros((len(items), longest, 4), np.float32)
    lengths = np.zeros(len(items), np.int32)
    for row, item in enumerate(items):
        frames[row, :len(item)] = item
        lengths[row] = len(item)
    return {"frames": frames, "lengths": lengths}


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["frames"])
        mask = jnp.arange(logits.shape[1]) < batch["lengths"][:, None]
        energy = jax.nn.logsumexp(logits, axis=-1)
        return jnp.sum(energy * mask) / jnp.sum(mask)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main():
    model = Acoustic()
    items = list(recordings(20, seed=3))
    params = jax.jit(model.init)(jax.random.key(0), np.zeros((1, 20, 4), np.float32))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.05))
    state = state.replace(step=jnp.asarray(0, jnp.int32))
    for start in range(0, 20, 4):
        batch = collate(items[start:start + 4])
        state, loss = train_step(state, batch)  # <- cause
        print(f"{batch['frames'].shape[1]} frames, loss {float(loss):.3f}")


main()
