# cause: stable
# run:
# run:
# run:
# reason: a world model and a policy; each run goes on with what the last one left, in half precision where it computes

import pathlib
import pickle

import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import jmp
import numpy as np
import optax

CHECKPOINT = pathlib.Path("agent.pickle")
policy = jmp.get_policy("params=float32,compute=bfloat16,output=float32")


def world(observation, action):
    x = jnp.concatenate([observation, jax.nn.one_hot(action, 3, dtype=observation.dtype)], axis=-1)
    x = hk.nets.MLP([10, 8])(x)
    mean, raw = jnp.split(x, 2, axis=-1)
    return mean, jax.nn.softplus(raw) + 0.1


def actor(observation):
    return hk.nets.MLP([8, 3], activation=jnp.tanh)(observation)


world_net = hk.without_apply_rng(hk.transform(world))
actor_net = hk.without_apply_rng(hk.transform(actor))
world_optimizer, actor_optimizer = optax.adamw(1e-3), optax.rmsprop(1e-3, momentum=0.9)


def predict(params, observation, action):
    params, observation = policy.cast_to_compute((params, observation))
    mean, scale = policy.cast_to_output(world_net.apply(params, observation, action))
    return distrax.MultivariateNormalDiag(mean, scale)


@jax.jit
def learn_world(params, opt_state, batch):
    def loss_fn(params):
        following = predict(params, batch["observation"], batch["action"])
        return -jnp.mean(following.log_prob(batch["following"]))

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = world_optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def learn_actor(params, opt_state, world_params, observation, key):
    def loss_fn(params):
        act, imagine = jax.random.split(key)
        choice = distrax.Categorical(logits=actor_net.apply(params, observation))
        action, log_prob = choice.sample_and_log_prob(seed=act)
        reward = predict(world_params, observation, action).sample(seed=imagine)[:, 0]
        return -jnp.mean(jax.lax.stop_gradient(reward - reward.mean()) * log_prob
                         + 0.01 * choice.entropy())

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = actor_optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def act_greedily(params, observation):
    return distrax.Categorical(logits=actor_net.apply(params, observation)).mode()


@jax.jit
def create(key):
    first, second = jax.random.split(key)
    observation = jnp.zeros((1, 4))
    world_params = world_net.init(first, observation, jnp.zeros(1, jnp.int32))
    actor_params = actor_net.init(second, observation)
    return {"world": world_params, "actor": actor_params, "world_state": world_optimizer.init(world_params),
            "actor_state": actor_optimizer.init(actor_params), "step": jnp.asarray(0, jnp.int32)}


agent = create(jax.random.key(0))
if CHECKPOINT.exists():
    agent = pickle.loads(CHECKPOINT.read_bytes())
rng = np.random.default_rng(int(agent["step"]))
for _ in range(3):
    observation = rng.normal(size=(6, 4)).astype(np.float32)
    action = np.asarray(act_greedily(agent["actor"], observation), np.int32)
    batch = {"observation": observation, "action": action,
             "following": (0.9 * observation + 0.1 * action[:, None]).astype(np.float32)}
    agent["world"], agent["world_state"], loss = learn_world(agent["world"], agent["world_state"], batch)
    key = jax.random.key(int(agent["step"]))
    agent["actor"], agent["actor_state"] = learn_actor(
        agent["actor"], agent["actor_state"], agent["world"], observation, key)
    agent["step"] = np.int32(agent["step"] + 1)
CHECKPOINT.write_bytes(pickle.dumps(jax.tree.map(np.asarray, agent)))
print(int(agent["step"]), float(loss))
