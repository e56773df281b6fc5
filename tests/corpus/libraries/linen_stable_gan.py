# cause: stable
# reason: two models of one form, with their own updates

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Generator(nn.Module):
    @nn.compact
    def __call__(self, z):
        return nn.Dense(4)(nn.relu(nn.Dense(8)(z)))


class Discriminator(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


generator, discriminator = Generator(), Discriminator()
optimizer = optax.adam(1e-3)


def apply(grads, params, opt_state):
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def update_generator(g, g_state, d, key):
    def loss_fn(g):
        fake = generator.apply(g, jax.random.normal(key, (6, 2)))
        return jnp.mean(nn.softplus(-discriminator.apply(d, fake)))

    return apply(jax.grad(loss_fn)(g), g, g_state)


@jax.jit
def update_discriminator(d, d_state, g, key, real):
    def loss_fn(d):
        fake = generator.apply(g, jax.random.normal(key, (6, 2)))
        return jnp.mean(nn.softplus(discriminator.apply(d, fake))
                        + nn.softplus(-discriminator.apply(d, real)))

    return apply(jax.grad(loss_fn)(d), d, d_state)


real = np.ones((6, 4), np.float32)
g = generator.init(jax.random.key(0), jnp.ones((1, 2)))
d = discriminator.init(jax.random.key(1), jnp.ones((1, 4)))
g_state, d_state = optimizer.init(g), optimizer.init(d)
for step in range(2):
    key = jax.random.key(step)
    d, d_state = update_discriminator(d, d_state, g, key, real)
    g, g_state = update_generator(g, g_state, d, key)
