# cause: stable
# reason: training and greedy play are two functions; the coefficient of the entropy is an array

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


@jax.jit
def improve(params, opt_state, batch, bonus):
    def objective(params):
        policy = distrax.Categorical(logits=batch["observation"] @ params)
        gain = policy.log_prob(batch["action"]) * batch["advantage"]
        return -jnp.mean(gain + bonus * policy.entropy())

    loss, grads = jax.value_and_grad(objective)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def explore(params, key, observation):
    key, used = jax.random.split(key)
    return key, distrax.Categorical(logits=observation @ params).sample(seed=used)


@jax.jit
def play(params, observation):
    return distrax.Categorical(logits=observation @ params).mode()


observation = np.ones((6, 4), np.float32)
params = np.zeros((4, 3), np.float32)
opt_state = jax.jit(optimizer.init)(params)
key = jax.random.key(0)
for iteration in range(4):
    key, actions = explore(params, key, observation)
    batch = {"observation": observation, "action": np.asarray(actions),
             "advantage": np.linspace(-1, 1, 6, dtype=np.float32)}
    params, opt_state, loss = improve(params, opt_state, batch, np.float32(0.1 / (1 + iteration)))
    if iteration % 2:
        print(np.asarray(play(params, observation)))
