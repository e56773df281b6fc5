# cause: arguments
# subject: opt_state.inner_states['off']...
# reason: what was frozen has no moments; unfrozen it has
# program: jit_update

import jax
import jax.numpy as jnp
import numpy as np
import optax

x = np.ones((4, 3), np.float32)
params = {"body": np.ones((3, 3), np.float32), "head": np.ones((3, 2), np.float32)}


def optimizer_for(rule):
    return optax.partition({"on": optax.trace(0.9), "off": rule},
                           {"body": "off", "head": "on"})


def make_update(optimizer):
    @jax.jit
    def update(params, opt_state, x):
        def loss_fn(params):
            return jnp.mean((jnp.tanh(x @ params["body"]) @ params["head"]) ** 2)

        updates, opt_state = optimizer.update(jax.grad(loss_fn)(params), opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    return update


for rule in (optax.set_to_zero(), optax.trace(0.9)):
    optimizer = optimizer_for(rule)
    opt_state = jax.jit(optimizer.init)(params)
    update = make_update(optimizer)
    update(params, opt_state, x)  # <- cause
