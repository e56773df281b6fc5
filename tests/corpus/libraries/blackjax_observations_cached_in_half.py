# cause: dtype
# subject: observed
# old: f32[12]
# new: f16[12]
# program: jit_step
# run:
# run:
# reason: the first run reads the table and keeps its numbers for the next one, in half precision to save space

import pathlib

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

CACHE = pathlib.Path("observed.npy")
TABLE = "1.5 2.0 2.5 1.75 0.5 2.25 3.0 1.0 1.25 2.75 1.5 2.0"


def load():
    if CACHE.exists():
        return np.load(CACHE)
    numbers = np.array(TABLE.split(), np.float32)
    np.save(CACHE, numbers.astype(np.float16))
    return numbers


def logdensity(position, observed):
    residual = (observed - position["mean"]) * jnp.exp(-position["log_scale"])
    return -0.5 * jnp.sum(residual ** 2) - observed.shape[0] * position["log_scale"]


def sampler(observed):
    return blackjax.mala(lambda position: logdensity(position, observed), 0.01)


@jax.jit
def start(position, observed):
    return sampler(observed).init(position)


@jax.jit
def step(key, state, observed):
    return sampler(observed).step(key, state)


observed = load()
state = start({"mean": np.float32(0.0), "log_scale": np.float32(0.0)}, observed)
accepted = []
for key in np.asarray(jax.random.split(jax.random.PRNGKey(0), 5)):
    state, info = step(key, state, observed)  # <- cause
    accepted.append(float(info.acceptance_rate))
print(np.mean(accepted), float(state.position["mean"]))
