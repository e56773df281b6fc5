# cause: stable
# reason: the weights are arrays of NumPy at first, as the checkpoint has them, and JAX's own from the first update on

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.rmsprop(1e-3))


def forward(observation):
    torso = hk.nets.MLP([8, 8], activate_final=True)(observation)
    return hk.Linear(3)(torso), jnp.squeeze(hk.Linear(1)(torso), -1)


net = hk.without_apply_rng(hk.transform(forward))


def returns_of(rewards, discounts, last):
    def back(value, step):
        reward, discount = step
        value = reward + 0.99 * discount * value
        return value, value

    return jax.lax.scan(back, last, (rewards, discounts), reverse=True)[1]


@jax.jit
def act(params, key, observation):
    logits, _ = net.apply(params, observation)
    return jax.random.categorical(key, logits)


@jax.jit
def learn(params, opt_state, batch):
    def loss_fn(params):
        logits, values = net.apply(params, batch["observation"])
        targets = returns_of(batch["reward"], batch["discount"], jax.lax.stop_gradient(values[-1]))
        advantage = jax.lax.stop_gradient(targets - values)
        log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["action"][:, None], 1)[:, 0]
        return jnp.mean(0.5 * (targets - values) ** 2 - advantage * log_prob)

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


fresh = jax.jit(net.init)(jax.random.key(0), np.zeros(4, np.float32))
params = jax.tree.map(np.asarray, fresh)
opt_state = jax.tree.map(np.asarray, jax.jit(optimizer.init)(params))
key = jax.random.key(1)
for episode in range(3):
    actions = []
    for step in range(4):
        key, draw = jax.random.split(key)
        actions.append(int(act(params, draw, np.full(4, step, np.float32))))
    batch = {"observation": np.ones((4, 4), np.float32), "action": np.array(actions, np.int32),
             "reward": np.ones(4, np.float32), "discount": np.array([1, 1, 1, 0], np.float32)}
    params, opt_state = learn(params, opt_state, batch)
