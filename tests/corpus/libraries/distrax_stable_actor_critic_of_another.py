# cause: stable
# reason: rollouts of one length; acting, learning and testing are one jitted function each

import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS, ROBOTS, SENSORS, JOINTS = 6, 4, 5, 2


def actor_critic(observations):
    trunk = hk.nets.MLP([12], activate_final=True)(observations)
    mean = hk.Linear(JOINTS)(trunk)
    spread = hk.get_parameter("spread", [JOINTS], init=jnp.zeros)
    return mean, jnp.exp(spread), hk.Linear(1)(trunk)[..., 0]


net = hk.without_apply_rng(hk.transform(actor_critic))
optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(optax.linear_schedule(1e-3, 1e-4, 50)))


@jax.jit
def act(params, key, index, observations):
    mean, spread, value = net.apply(params, observations)
    return distrax.MultivariateNormalDiag(mean, spread + jnp.zeros_like(mean)).sample(seed=jax.random.fold_in(key, index))


@jax.jit
def best(params, observations):
    return net.apply(params, observations)[0]


@jax.jit
def learn(params, opt_state, observations, actions, returns):
    def loss_fn(params):
        mean, spread, value = net.apply(params, observations)
        actor = distrax.MultivariateNormalDiag(mean, spread + jnp.zeros_like(mean))
        advantage = jax.lax.stop_gradient(returns - value)
        return jnp.mean(0.5 * (returns - value) ** 2 - advantage * actor.log_prob(actions) - 0.01 * actor.entropy())

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def rollout(params, key, rng, at):
    seen, done = [], []
    for step in range(STEPS):
        observations = rng.normal(size=(ROBOTS, SENSORS)).astype(np.float32)
        seen.append(observations)
        done.append(np.asarray(act(params, key, np.int32(at + step), observations)))
    return np.concatenate(seen), np.concatenate(done), rng.normal(size=STEPS * ROBOTS).astype(np.float32)


rng = np.random.default_rng(0)
params = jax.jit(net.init)(jax.random.key(0), np.zeros((ROBOTS, SENSORS), np.float32))
opt_state = jax.jit(optimizer.init)(params)
key = jax.random.key(1)
for index in range(4):
    params, opt_state, loss = learn(params, opt_state, *rollout(params, key, rng, STEPS * index))
    if index % 2:
        print(index, float(loss), best(params, np.zeros((ROBOTS, SENSORS), np.float32))[0])
