# cause: stable
# reason: critic and generator take turns, a copy of the generator is averaged, and samples are drawn between

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Generator(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(2, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.second = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, z):
        return self.second(nnx.relu(self.norm(self.first(z))))


class Critic(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(3, 8, rngs=rngs)
        self.second = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.leaky_relu(self.first(x)))[:, 0]


@nnx.jit
def train_critic(critic, generator, optimizer, real, key):
    fake = generator(jax.random.normal(key, (real.shape[0], 2)))

    def loss_fn(critic):
        return jnp.mean(nnx.softplus(-critic(real))) + jnp.mean(nnx.softplus(critic(fake)))

    loss, grads = nnx.value_and_grad(loss_fn)(critic)
    optimizer.update(critic, grads)
    return loss


@nnx.jit
def train_generator(generator, critic, optimizer, average, key):
    def loss_fn(generator):
        return jnp.mean(nnx.softplus(-critic(generator(jax.random.normal(key, (6, 2))))))

    loss, grads = nnx.value_and_grad(loss_fn)(generator)
    optimizer.update(generator, grads)
    new = nnx.state(generator, nnx.Param)
    old = nnx.state(average, nnx.Param)
    nnx.update(average, jax.tree.map(lambda o, n: 0.9 * o + 0.1 * n, old, new))
    return loss


@nnx.jit
def sample(generator, z):
    return generator(z)


@nnx.jit
def make():
    generator, critic = Generator(nnx.Rngs(0)), Critic(nnx.Rngs(1))
    average = Generator(nnx.Rngs(0))
    average.eval()
    return (generator, critic, average, nnx.Optimizer(generator, optax.adam(1e-3, b1=0.5), wrt=nnx.Param),
            nnx.Optimizer(critic, optax.adam(4e-3, b1=0.5), wrt=nnx.Param))


generator, critic, average, of_generator, of_critic = make()
rng = np.random.default_rng(0)
draws = jax.random.key(7)
z = rng.normal(size=(5, 2)).astype(np.float32)
for epoch in range(2):
    for step in range(2):
        for turn in range(2):
            real = rng.normal(1.0, 0.5, size=(6, 3)).astype(np.float32)
            key = jax.random.fold_in(draws, 6 * epoch + 3 * step + turn)
            on_critic = train_critic(critic, generator, of_critic, real, key)
        key = jax.random.fold_in(draws, 6 * epoch + 3 * step + 2)
        on_generator = train_generator(generator, critic, of_generator, average, key)
    print(epoch, float(on_critic), float(on_generator), np.asarray(sample(average, z)).mean())
