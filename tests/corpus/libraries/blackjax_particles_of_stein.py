# cause: shape
# subject: state.particles
# old: f32[6,2]
# new: f32[9,2]
# reason: the posterior is described by more particles; the pairwise distances and their median follow

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import optax


def logdensity(position):
    first = -0.5 * jnp.sum((position - 1.5) ** 2)
    second = -0.5 * jnp.sum((position + 1.5) ** 2)
    return jnp.logaddexp(first, second)


svgd = blackjax.svgd(jax.grad(logdensity), optax.sgd(0.1))
step = jax.jit(lambda state: svgd.step(state))


def fit(particles, iterations):
    state = svgd.init(particles, {"length_scale": np.float32(1.0)})
    for _ in range(iterations):
        state = step(state)  # <- cause
    return np.asarray(state.particles)


rng = np.random.default_rng(0)
for count in (6, 9):
    found = fit(rng.normal(size=(count, 2)).astype(np.float32), 3)
    print(count, found.mean(axis=0), found.std(axis=0))
