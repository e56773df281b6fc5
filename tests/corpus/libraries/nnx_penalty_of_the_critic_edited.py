# cause: edit
# old: PENALTY = 10.0
# new: PENALTY = 5.0
# program: jit_train_critic
# run: 10.0
# run: 5.0
# reason: the weight of the gradient's penalty is edited in the module of the critic between the runs

import pathlib
import sys

import jax
import numpy as np
import optax
from flax import nnx

pathlib.Path("critic_with_penalty.py").write_text(f"""
import jax
import jax.numpy as jnp
from flax import nnx

PENALTY = {sys.argv[1]}


class Critic(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(3, 8, rngs=rngs)
        self.out = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.leaky_relu(self.hidden(x)))[..., 0]


def steepness(critic, points):
    slopes = jax.vmap(jax.grad(lambda point: critic(point)))(points)
    return jnp.sqrt(jnp.sum(slopes ** 2, axis=-1) + 1e-12)


@nnx.jit
def train_critic(critic, optimizer, real, fake, key):
    share = jax.random.uniform(key, (real.shape[0], 1))
    between = share * real + (1 - share) * fake

    def loss_fn(critic):
        loss = jnp.mean(critic(fake)) - jnp.mean(critic(real))
        return loss + PENALTY * jnp.mean((steepness(critic, between) - 1) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(critic)
    optimizer.update(critic, grads)
    return loss
""")
sys.path.insert(0, str(pathlib.Path.cwd()))
import critic_with_penalty as wgan  # noqa: E402


class Generator(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.Sequential(nnx.Linear(2, 8, rngs=rngs), nnx.relu, nnx.Linear(8, 3, rngs=rngs))

    def __call__(self, z):
        return self.layers(z)


@nnx.jit
def train_generator(generator, critic, optimizer, z):
    grads = nnx.grad(lambda generator: -critic(generator(z)).mean())(generator)
    optimizer.update(generator, grads)
    return generator(z)


critic = nnx.jit(lambda: wgan.Critic(nnx.Rngs(0)))()
generator = nnx.jit(lambda: Generator(nnx.Rngs(1)))()
of_critic = nnx.Optimizer(critic, optax.adam(1e-3, b1=0.0), wrt=nnx.Param)
of_generator = nnx.Optimizer(generator, optax.adam(1e-3, b1=0.0), wrt=nnx.Param)
rng = np.random.default_rng(0)
fake = rng.normal(size=(6, 3)).astype(np.float32)
for step in range(3):
    real = rng.normal(1.0, 0.5, size=(6, 3)).astype(np.float32)
    loss = wgan.train_critic(critic, of_critic, real, fake, jax.random.key(step))
    fake = train_generator(generator, critic, of_generator, rng.normal(size=(6, 2)).astype(np.float32))
print(float(loss))
