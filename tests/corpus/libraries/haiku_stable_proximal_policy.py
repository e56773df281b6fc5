# cause: stable
# reason: rollouts on the host, several epochs of shuffled minibatches, a rate that falls in the optimizer's state

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

net = hk.without_apply_rng(hk.transform(
    lambda x: (hk.nets.MLP([8, 2], name="policy")(x), hk.nets.MLP([8, 1], name="value")(x)[:, 0])))
optimizer = optax.chain(optax.clip_by_global_norm(0.5),
                        optax.adam(optax.linear_schedule(3e-3, 0.0, 20)))


@jax.jit
def act(params, key, observation):
    logits, value = net.apply(params, observation)
    action = jax.random.categorical(key, logits)
    log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
    return action, log_prob, value


@jax.jit
def update(params, opt_state, batch):
    def loss_fn(params):
        logits, value = net.apply(params, batch["observation"])
        log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["action"][:, None], 1)[:, 0]
        ratio = jnp.exp(log_prob - batch["log_prob"])
        clipped = jnp.clip(ratio, 0.8, 1.2)
        gain = jnp.minimum(ratio * batch["advantage"], clipped * batch["advantage"])
        return -jnp.mean(gain) + 0.5 * jnp.mean((value - batch["return"]) ** 2)

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
observation = rng.normal(size=(8, 4)).astype(np.float32)
params = jax.jit(net.init)(jax.random.key(0), observation)
opt_state = jax.jit(optimizer.init)(params)
for iteration in range(2):
    keys = np.asarray(jax.random.split(jax.random.PRNGKey(iteration), 4))
    steps = []
    for key in keys:
        action, log_prob, value = act(params, key, observation)
        reward = np.float32(1.0) * (np.asarray(action) == (observation[:, 0] > 0))
        steps.append({"observation": observation, "action": np.asarray(action),
                      "log_prob": np.asarray(log_prob), "return": reward.astype(np.float32),
                      "advantage": (reward - np.asarray(value)).astype(np.float32)})
        observation = rng.normal(size=(8, 4)).astype(np.float32)
    data = {name: np.concatenate([step[name] for step in steps]) for name in steps[0]}
    for epoch in range(2):
        order = rng.permutation(32)
        for rows in order.reshape(4, 8):
            params, opt_state = update(params, opt_state, {name: a[rows] for name, a in data.items()})
