# cause: weak_type
# subject: noise
# old: weak f32[]
# new: f32[]
# program: jit_act
# reason: the noise begins as a number of the settings; NumPy's maximum makes it strong, and the policy is in bfloat16

import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

SETTINGS = {"noise": 0.5, "floor": 0.1, "decay": 0.9, "rate": 1e-2}
actor = hk.without_apply_rng(hk.transform(lambda x: jnp.tanh(hk.nets.MLP([8, 2])(x))))
optimizer = optax.adam(SETTINGS["rate"])


def half(tree):
    return jax.tree.map(lambda p: p.astype(jnp.bfloat16), tree)


@jax.jit
def act(params, observation, noise, key):
    mean = actor.apply(half(params), observation.astype(jnp.bfloat16))
    policy = distrax.Normal(mean, noise * jnp.ones_like(mean))
    return jnp.clip(policy.sample(seed=key), -1, 1)


@jax.jit
def learn(params, opt_state, observation, action, advantage):
    def loss_fn(params):
        mean = actor.apply(params, observation)
        return jnp.mean(advantage * jnp.sum((mean - action) ** 2, axis=-1))

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
params = jax.jit(actor.init)(jax.random.PRNGKey(0), np.ones((1, 3), np.float32))
opt_state = jax.jit(optimizer.init)(params)
noise = SETTINGS["noise"]
for key in np.asarray(jax.random.split(jax.random.PRNGKey(1), 4)):
    observation = rng.normal(size=(6, 3)).astype(np.float32)
    action = np.asarray(act(params, observation, noise, key), np.float32)  # <- cause
    advantage = (action[:, 0] * observation[:, 0]).astype(np.float32)
    params, opt_state = learn(params, opt_state, observation, action, advantage)
    noise = np.maximum(noise * SETTINGS["decay"], SETTINGS["floor"])
print(float(noise))
