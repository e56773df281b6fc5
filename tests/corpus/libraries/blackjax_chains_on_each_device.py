# cause: devices
# program: jit_run_chain
# advice: one device | mesh
# reason: each chain is put on a device of its own, by a loop over the devices

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

observed = np.random.default_rng(0).normal(2.0, 1.0, size=16).astype(np.float32)


def logdensity(position, data):
    location, log_scale = position["location"], position["log_scale"]
    likelihood = jax.scipy.stats.norm.logpdf(data, location, jnp.exp(log_scale)).sum()
    return likelihood - 0.5 * (location ** 2 / 25 + log_scale ** 2)


@jax.jit
def run_chain(keys, position, data):
    sampler = blackjax.hmc(lambda p: logdensity(p, data), step_size=0.05,
                           inverse_mass_matrix=jnp.ones(2), num_integration_steps=4)

    def one(state, key):
        state, info = sampler.step(key, state)
        return state, (state.position, info.acceptance_rate)

    _, (positions, rates) = jax.lax.scan(one, sampler.init(position), keys)
    return positions, rates.mean()


chains = []
for number, device in enumerate(jax.devices()[:3]):
    keys = jax.device_put(np.asarray(jax.random.split(jax.random.PRNGKey(number), 6)), device)
    start = {"location": np.float32(number), "log_scale": np.float32(0.0)}
    positions, rate = run_chain(keys, start, observed)  # <- cause
    chains.append(np.asarray(positions["location"]))
print(np.stack(chains).mean())
