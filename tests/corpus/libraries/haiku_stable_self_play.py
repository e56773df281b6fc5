# cause: stable
# reason: two players of one network, a replay that is full before anything is learned, a target and a league on the host

import collections

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

Step = collections.namedtuple("Step", "observation action reward following")


def network(observation):
    torso = hk.nets.MLP([10], activate_final=True)(observation)
    advantage, value = hk.Linear(3)(torso), hk.Linear(1)(torso)
    return value + advantage - advantage.mean(-1, keepdims=True)


q = hk.without_apply_rng(hk.transform(network))
optimizer = optax.apply_if_finite(optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3)), 3)


@jax.jit
def act(params, key, observation, epsilon):
    explore, draw = jax.random.split(key)
    greedy = q.apply(params, observation).argmax(-1)
    return jnp.where(jax.random.uniform(explore) < epsilon, jax.random.randint(draw, (), 0, 3), greedy)


@jax.jit
def learn(params, target, opt_state, batch):
    def loss_fn(params):
        best = q.apply(params, batch.following).argmax(-1)
        later = jnp.take_along_axis(q.apply(target, batch.following), best[:, None], 1)[:, 0]
        wanted = jax.lax.stop_gradient(batch.reward + 0.9 * later)
        found = jnp.take_along_axis(q.apply(params, batch.observation), batch.action[:, None], 1)[:, 0]
        return optax.huber_loss(found, wanted).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def follow(target, params):
    return optax.incremental_update(params, target, 0.1)


def stack(steps):
    return Step(*(np.stack(column) for column in zip(*steps)))


rng = np.random.default_rng(0)
init = jax.jit(q.init)
players = [init(jax.random.PRNGKey(seed), np.zeros(4, np.float32)) for seed in (1, 2)]
targets = [dict(player) for player in players]
states = [optimizer.init(player) for player in players]
league = []
replay = collections.deque(maxlen=32)
keys = iter(np.asarray(jax.random.split(jax.random.PRNGKey(3), 64)))
observation = rng.normal(size=4).astype(np.float32)
for step in range(24):
    epsilon = np.float32(max(0.1, 1 - step / 12))
    actions = [int(act(player, next(keys), observation, epsilon)) for player in players]
    reward = np.float32((actions[0] - actions[1] + 1) % 3 - 1)
    following = rng.normal(size=4).astype(np.float32)
    replay.append(Step(observation, np.int32(actions[0]), reward, following))
    replay.append(Step(observation, np.int32(actions[1]), -reward, following))
    observation = following
    if len(replay) < 16 or step % 4:
        continue
    for side in (0, 1):
        batch = stack([replay[at] for at in rng.choice(len(replay), 8, replace=False)])
        players[side], states[side], loss = learn(players[side], targets[side], states[side], batch)
        targets[side] = follow(targets[side], players[side])
    league.append(jax.tree.map(np.asarray, players[0]))
wins = [int(act(past, next(keys), observation, np.float32(0.0))) for past in league]
print(float(loss), wins)
