# cause: shape
# subject: state.particles
# old: f32[6,2]
# new: f32[9,2]
# program: jit_move
# reason: resampling, moves and weights all have the number of particles

import blackjax
import blackjax.smc.resampling as resampling
import jax
import jax.numpy as jnp
import numpy as np


def logprior(x):
    return -0.5 * jnp.sum(x ** 2)


def loglikelihood(x):
    return -jnp.sum((x - 2.0) ** 2)


smc = blackjax.tempered_smc(
    logprior, loglikelihood, blackjax.mala.build_kernel(), blackjax.mala.init,
    {"step_size": jnp.array([0.1])}, resampling.systematic, num_mcmc_steps=2)


@jax.jit
def move(key, state, temperature):
    return smc.step(key, state, temperature)


def run(particles):
    state = smc.init(jnp.asarray(np.linspace(-1, 1, 2 * particles, dtype=np.float32).reshape(-1, 2)))
    state, info = move(jax.random.key(0), state, np.float32(0.5))  # <- cause
    return state.particles.mean(0)


for particles in (6, 9):
    run(particles)
