# cause: stable
# reason: the kernel is stepped by a jitted function of the script's, the data are arguments of the kernel's sample

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import HMC


def model(batch):
    centre = numpyro.sample("centre", dist.Normal(0.0, 3.0))
    spread = numpyro.sample("spread", dist.LogNormal(0.0, 0.5))
    with numpyro.plate("rows", batch["y"].shape[0]), numpyro.handlers.mask(mask=batch["mask"]):
        numpyro.sample("y", dist.StudentT(4.0, centre, spread), obs=batch["y"])


def padded(values, length=8):
    y, mask = np.zeros(length, np.float32), np.zeros(length, bool)
    y[:len(values)], mask[:len(values)] = values, True
    return {"y": y, "mask": mask}


kernel = HMC(model, step_size=0.1, num_steps=3, adapt_step_size=False, adapt_mass_matrix=False)
batches = [padded(np.linspace(0.0, 1.0, count)) for count in (8, 5, 6)]
state = kernel.init(jax.random.key(0), 0, None, (batches[0],), {})


@jax.jit
def step(state, batch):
    state = kernel.sample(state, (batch,), {})
    state = state._replace(num_steps=jnp.asarray(state.num_steps, jnp.int32))  # else weak from here on
    return state, kernel.postprocess_fn((batch,), {})(state.z)


draws = []
for number in range(6):
    state, values = step(state, batches[number % 3])
    draws.append({name: float(value) for name, value in values.items()})
print(np.mean([draw["centre"] for draw in draws]), float(state.accept_prob))
