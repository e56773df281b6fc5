# cause: structure
# reason: a penalty of the critic is only computed in every third step, by a static flag

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Critic(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(3, 8, rngs=rngs)
        self.out = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.leaky_relu(self.hidden(x)))[:, 0]


@functools.partial(nnx.jit, static_argnames="penalise")
def train_critic(critic, optimizer, real, fake, penalise):
    def loss_fn(critic):
        on_real, on_fake = critic(real), critic(fake)
        loss = jnp.mean(jax.nn.softplus(-on_real)) + jnp.mean(jax.nn.softplus(on_fake))
        if penalise:
            loss = loss + 0.01 * jnp.mean(on_real ** 2 + on_fake ** 2)  # <- cause
        return loss

    loss, grads = nnx.value_and_grad(loss_fn)(critic)
    optimizer.update(critic, grads)
    return loss


critic = nnx.jit(lambda: Critic(nnx.Rngs(0)))()
optimizer = nnx.Optimizer(critic, optax.adam(1e-3, b1=0.5), wrt=nnx.Param)
rng = np.random.default_rng(0)
for step in range(1, 8):
    real = rng.normal(1.0, 0.5, size=(8, 3)).astype(np.float32)
    fake = rng.normal(0.0, 1.0, size=(8, 3)).astype(np.float32)
    loss = train_critic(critic, optimizer, real, fake, penalise=step % 3 == 0)  # <- call
print(float(loss))
