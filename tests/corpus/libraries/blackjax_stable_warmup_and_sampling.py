# cause: stable

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

observed = np.random.default_rng(0).normal(10, 2, size=20).astype(np.float32)


def logdensity(position):
    scale = jnp.exp(position["log_scale"])
    return jnp.sum(jax.scipy.stats.norm.logpdf(observed, position["loc"], scale)) - scale


@jax.jit
def inference_loop(rng_key, state, parameters):
    kernel = blackjax.nuts(logdensity, **parameters).step
    return jax.lax.scan(lambda s, k: (kernel(k, s)[0],) * 2, state, jax.random.split(rng_key, 5))


warmup = blackjax.window_adaptation(blackjax.nuts, logdensity)
warmup_key, *sample_keys = jax.random.split(jax.random.key(0), 4)
start = {"loc": jnp.float32(1.0), "log_scale": jnp.float32(1.0)}
(state, parameters), _ = warmup.run(warmup_key, start, num_steps=10)
for key in sample_keys:
    state, states = inference_loop(key, state, parameters)
print(np.asarray(states.position["loc"]).mean())
