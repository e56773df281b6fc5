# cause: option
# subject: xla_cpu_enable_fast_math
# new: true
# program: jit_train_step
# reason: a benchmark compiles the step of the training once more, with an option to try

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        y = jnp.swapaxes(nn.Dense(5)(jnp.swapaxes(y, 1, 2)), 1, 2)
        x = x + nn.gelu(y)
        return nn.Dense(1)(x).mean(axis=(1, 2))


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def seconds(step, *arguments, repeats=3):
    started = time.perf_counter()
    for _ in range(repeats):
        state, loss = step(*arguments)
    float(loss)
    return (time.perf_counter() - started) / repeats


model = Mixer()
rng = np.random.default_rng(0)
x, y = rng.normal(size=(6, 5, 4)).astype(np.float32), rng.normal(size=6).astype(np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.01))
for _ in range(3):
    state, loss = train_step(state, x, y)
plain = seconds(train_step, state, x, y)
options = {"xla_cpu_enable_fast_math": True}
faster = train_step.lower(state, x, y).compile(compiler_options=options)  # <- cause
print(plain, seconds(faster, state, x, y))
