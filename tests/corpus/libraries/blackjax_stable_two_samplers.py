# cause: stable
# reason: two samplers of one density, whose jitted functions have one name, each used many times

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

observed = np.random.default_rng(0).normal(3.0, 2.0, size=12).astype(np.float32)


def logdensity(position):
    scale = jnp.exp(position["log_scale"])
    return jnp.sum(jax.scipy.stats.norm.logpdf(observed, position["loc"], scale))


start = {"loc": jnp.zeros(()), "log_scale": jnp.zeros(())}
mala = blackjax.mala(logdensity, 1e-3)
hmc = blackjax.hmc(logdensity, 1e-2, jnp.ones(2), 4)
step_mala, step_hmc = jax.jit(mala.step), jax.jit(hmc.step)
first, second = mala.init(start), hmc.init(start)
for key in jax.random.split(jax.random.key(0), 6):
    first, info = step_mala(key, first)
for key in jax.random.split(jax.random.key(1), 6):
    second, info = step_hmc(key, second)
print(float(first.position["loc"]), float(second.position["loc"]))
