# cause: structure
# reason: advantages are normalised once the returns have a spread; the host decides it

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def policy_and_value(observation):
    torso = jnp.tanh(hk.Linear(10)(observation))
    return hk.Linear(3)(torso), hk.Linear(1)(torso)[:, 0]


net = hk.without_apply_rng(hk.transform(policy_and_value))
optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-4))


def loss_fn(params, batch, normalise):
    logits, value = net.apply(params, batch["observation"])
    advantage = batch["return"] - jax.lax.stop_gradient(value)
    if normalise:
        advantage = (advantage - jnp.mean(advantage)) / (jnp.std(advantage) + 1e-6)  # <- cause
    log_policy = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(log_policy, batch["action"][:, None], axis=1)[:, 0]
    entropy = -jnp.sum(jnp.exp(log_policy) * log_policy, axis=-1)
    return jnp.mean(-chosen * advantage + 0.5 * (batch["return"] - value) ** 2 - 0.01 * entropy)


@functools.partial(jax.jit, static_argnames="normalise")
def update(params, opt_state, batch, normalise):
    grads = jax.grad(loss_fn)(params, batch, normalise)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
params = jax.jit(net.init)(jax.random.key(0), np.ones((1, 4), np.float32))
opt_state = jax.jit(optimizer.init)(params)
for iteration in range(4):
    returns = (rng.normal(size=6) * iteration).astype(np.float32)
    batch = {"observation": rng.normal(size=(6, 4)).astype(np.float32),
             "action": rng.integers(0, 3, 6).astype(np.int32), "return": returns}
    params, opt_state = update(  # <- call
        params, opt_state, batch, normalise=bool(np.std(returns) > 0.2))
