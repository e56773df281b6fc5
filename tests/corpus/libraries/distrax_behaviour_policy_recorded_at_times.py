# cause: arguments
# subject: batch['behaviour']
# old: absent
# new: f32[6]
# reason: only the recorded episodes have the log-probability under the policy that played them

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-3)


def policy(params, observation):
    return distrax.Categorical(logits=jnp.tanh(observation @ params["w"]) @ params["out"])


def loss_fn(params, batch):
    log_prob = policy(params, batch["observation"]).log_prob(batch["action"])
    if "behaviour" in batch:
        ratio = jnp.exp(log_prob - batch["behaviour"])
        clipped = jnp.clip(ratio, 0.8, 1.2)
        return -jnp.mean(jnp.minimum(ratio * batch["advantage"], clipped * batch["advantage"]))
    return -jnp.mean(log_prob * batch["advantage"])


@jax.jit
def update(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def episode(rng, recorded):
    batch = {"observation": rng.normal(size=(6, 4)).astype(np.float32),
             "action": rng.integers(0, 3, 6).astype(np.int32),
             "advantage": rng.normal(size=6).astype(np.float32)}
    if recorded:
        batch["behaviour"] = np.full(6, np.log(1 / 3), np.float32)
    return batch


rng = np.random.default_rng(0)
params = {"w": 0.1 * np.ones((4, 8), np.float32), "out": np.zeros((8, 3), np.float32)}
opt_state = jax.jit(optimizer.init)(params)
for number in range(5):
    batch = episode(rng, recorded=number >= 3)
    params, opt_state, loss = update(params, opt_state, batch)  # <- cause
