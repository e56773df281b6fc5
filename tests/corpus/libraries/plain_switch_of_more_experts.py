# cause: structure
# reason: the list of experts that lax.switch chooses from has one more

import jax
import jax.numpy as jnp
import numpy as np

EXPERTS = {
    "linear": lambda x: 2.0 * x,
    "square": lambda x: x ** 2,
    "wave": lambda x: jnp.sin(x),  # <- cause
}


def make_route(names):
    chosen = [EXPERTS[name] for name in names]

    @jax.jit
    def route(which, x):
        out = jax.lax.switch(which, chosen, x)
        return out.sum()

    return route


x = np.ones(5, np.float32)
for names in (["linear", "square"], ["linear", "square", "wave"]):
    route = make_route(names)
    for which in range(2):
        route(np.int32(which), x)  # <- call
