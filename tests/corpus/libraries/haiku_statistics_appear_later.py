# cause: arguments
# subject: state...
# old: absent
# reason: the first call has an empty state, the module makes its counter and average there

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(x):
    hidden = jnp.tanh(hk.Linear(4)(x))
    seen = hk.get_state("seen", hidden.shape[1:], init=jnp.zeros)
    hk.set_state("seen", 0.9 * seen + 0.1 * hidden.mean(0))
    return hk.Linear(2)(hidden - seen)


net = hk.without_apply_rng(hk.transform_with_state(forward))
x = np.ones((3, 5), np.float32)
params, _ = jax.jit(net.init)(jax.random.PRNGKey(0), x)


@jax.jit
def apply(params, state, x):
    if not state:
        state = {"~": {"seen": jnp.zeros(4)}}
    return net.apply(params, state, x)


state = {}
for _ in range(3):
    out, state = apply(params, state, x)  # <- cause
