# cause: arguments
# subject: state.position['scale']
# old: absent
# new: f32[]
# program: jit_step_fn

import blackjax
import jax
import jax.numpy as jnp


def logdensity(position):
    scale = position.get("scale", 1.0)
    return -0.5 * jnp.sum((position["mean"] / scale) ** 2) - scale ** 2


hmc = blackjax.hmc(logdensity, 0.1, jnp.ones(1), 2)
step = jax.jit(blackjax.mala(logdensity, 0.1).step)
for position in ({"mean": jnp.zeros(2)}, {"mean": jnp.zeros(2), "scale": jnp.ones(())}):
    state = blackjax.mala.init(position, logdensity)
    state, info = step(jax.random.key(1), state)  # <- cause
