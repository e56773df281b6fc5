import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.swish(nn.Dense(8)(x)))


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        return jnp.mean((state.apply_fn(params, batch.x) - batch.y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


class Trainer:
    def __init__(self, key, example):
        model = Regressor()
        params = jax.jit(model.init)(key, example)
        self.state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))

    def feed(self, batch):
        self.state, loss = train_step(self.state, batch)  # <- cause
        return float(loss)
