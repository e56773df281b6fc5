# cause: weak_type
# subject: entropy_cost
# old: weak f32[]
# new: f32[]
# reason: the cost is a Python float at first, then an array which is strong: the program then has no conversion

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(3e-3)


def loss_fn(params, observations, actions, returns, entropy_cost):
    policy = distrax.Categorical(logits=observations @ params["w"] + params["b"])
    policy_loss = -jnp.mean(policy.log_prob(actions) * returns)
    return policy_loss - entropy_cost * jnp.mean(policy.entropy())


@jax.jit
def learn(params, opt_state, batch, entropy_cost):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch, entropy_cost)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
params = {"w": rng.normal(size=(6, 4)).astype(np.float32), "b": np.zeros(4, np.float32)}
opt_state = jax.jit(optimizer.init)(params)
entropy_cost = 0.01
for update in range(4):
    batch = (rng.normal(size=(8, 6)).astype(np.float32),
             rng.integers(0, 4, 8).astype(np.int32),
             rng.normal(size=8).astype(np.float32))
    params, opt_state, loss = learn(params, opt_state, batch, entropy_cost)  # <- cause
    if update >= 1:
        entropy_cost = np.float32(0.01 * 0.9 ** update)
    print(update, float(loss))
