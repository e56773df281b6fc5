# cause: structure
# program: jit_train_step
# reason: the penalty on the activity is zero in the first stage, and then it is not computed

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Stage:
    steps: int
    penalty: float


class Autoencoder(eqx.Module):
    encoder: eqx.nn.Linear
    decoder: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.encoder = eqx.nn.Linear(6, 12, key=first)
        self.decoder = eqx.nn.Linear(12, 6, key=second)

    def __call__(self, x):
        code = jax.nn.relu(self.encoder(x))
        return self.decoder(code), code


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))


@eqx.filter_jit
def train_step(model, opt_state, x, stage):
    def loss_fn(model):
        rebuilt, code = jax.vmap(model)(x)
        loss = jnp.mean((rebuilt - x) ** 2)
        if stage.penalty > 0:
            loss = loss + stage.penalty * jnp.mean(jnp.abs(code))  # <- cause
        return loss

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


rng = np.random.default_rng(0)
model = eqx.filter_jit(Autoencoder)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
for stage in (Stage(steps=2, penalty=0.0), Stage(steps=2, penalty=0.1)):
    for _ in range(stage.steps):
        x = rng.normal(size=(8, 6)).astype(np.float32)
        model, opt_state, loss = train_step(model, opt_state, x, stage)  # <- call
    print(stage, float(loss))
