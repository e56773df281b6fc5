# cause: stable
# reason: two functions named step, each compiled once, look much alike

import jax
import jax.numpy as jnp
import numpy as np
import optax


def make_train(optimizer):
    @jax.jit
    def step(params, opt_state, x):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def make_eval():
    @jax.jit
    def step(params, x):
        return jnp.mean((x @ params) ** 2)

    return step


optimizer = optax.adam(1e-2)
x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
opt_state = jax.jit(optimizer.init)(params)
train, evaluate = make_train(optimizer), make_eval()
for _ in range(2):
    params, opt_state, loss = train(params, opt_state, x)
    evaluate(params, x)
