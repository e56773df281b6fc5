# cause: stable
# reason: an agent with a target network that is copied now and then, and exploration that is an array

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

net = hk.without_apply_rng(hk.transform(lambda observation: hk.nets.MLP([8, 3])(observation)))
optimizer = optax.rmsprop(1e-2)
rng = np.random.default_rng(0)
params = jax.jit(net.init)(jax.random.PRNGKey(0), np.ones((1, 4), np.float32))
target = params
opt_state = optimizer.init(params)


@jax.jit
def act(params, key, observation, epsilon):
    pick, draw = jax.random.split(key)
    greedy = net.apply(params, observation).argmax(-1)
    random = jax.random.randint(draw, greedy.shape, 0, 3)
    return jnp.where(jax.random.uniform(pick, greedy.shape) < epsilon, random, greedy)


@jax.jit
def learn(params, target, opt_state, batch):
    def loss_fn(params):
        values = net.apply(params, batch["before"])
        value = jnp.take_along_axis(values, batch["action"][:, None], 1)[:, 0]
        best = net.apply(target, batch["after"]).max(-1)
        goal = batch["reward"] + 0.9 * jax.lax.stop_gradient(best)
        return optax.l2_loss(value, goal).mean()

    updates, opt_state = optimizer.update(jax.grad(loss_fn)(params), opt_state)
    return optax.apply_updates(params, updates), opt_state


key = jax.random.PRNGKey(1)
for step in range(6):
    key, draw = jax.random.split(key)
    before = rng.normal(size=(5, 4)).astype(np.float32)
    action = act(params, draw, before, np.float32(0.5 ** step))
    batch = {"before": before, "action": action, "after": before + 0.1,
             "reward": rng.normal(size=5).astype(np.float32)}
    params, opt_state = learn(params, target, opt_state, batch)
    if step % 3 == 2:
        target = params
