# cause: arguments
# subject: opt[0].inner_state[0].mu['embed']
# old: f32[16,8]
# new: absent
# advice: one optimizer with one mask

import jax, jax.numpy as jnp, numpy as np, optax

params = {"embed": jnp.ones((16, 8)), "head": jnp.ones((8, 2))}


def make(trainable):
    tx = optax.chain(optax.masked(optax.adam(1e-2), {k: k in trainable for k in params}),
                     optax.masked(optax.set_to_zero(), {k: k not in trainable for k in params}))
    @jax.jit
    def step(params, opt, ids):
        grads = jax.grad(lambda p: (p["embed"][ids] @ p["head"]).sum())(params)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt
    return tx.init(params), step


ids = np.arange(4, dtype=np.int32)
for phase in ({"embed", "head"}, {"head"}):
    opt, step = make(phase)
    for _ in range(2):
        params, opt = step(params, opt, ids)  # <- cause
