# cause: stable
# reason: generator and discriminator have an optimizer each, whose update is jitted by itself

import jax
import jax.numpy as jnp
import numpy as np
import optax

generator_rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
critic_rule = optax.chain(optax.scale_by_rms(), optax.scale(-1e-2))
update_generator, update_critic = jax.jit(generator_rule.update), jax.jit(critic_rule.update)


@jax.jit
def generate(params, noise):
    return jnp.tanh(noise @ params["w"])


def criticise(params, x):
    return jax.nn.softplus(x @ params["v"] + params["c"]).mean()


generator_gradient = jax.jit(jax.grad(lambda g, c, noise: -criticise(c, generate(g, noise))))
critic_gradient = jax.jit(jax.grad(lambda c, real, fake: criticise(c, fake) - criticise(c, real)))

rng = np.random.default_rng(0)
generator = {"w": rng.normal(size=(3, 2)).astype(np.float32)}
critic = {"v": rng.normal(size=2).astype(np.float32), "c": np.zeros(1, np.float32)}
generator_state, critic_state = generator_rule.init(generator), critic_rule.init(critic)
for _ in range(3):
    noise = rng.normal(size=(4, 3)).astype(np.float32)
    real = rng.normal(size=(4, 2)).astype(np.float32)
    grads = critic_gradient(critic, real, generate(generator, noise))
    updates, critic_state = update_critic(grads, critic_state)
    critic = optax.apply_updates(critic, updates)
    grads = generator_gradient(generator, critic, noise)
    updates, generator_state = update_generator(grads, generator_state)
    generator = optax.apply_updates(generator, updates)
print(float(critic["c"][0]))
