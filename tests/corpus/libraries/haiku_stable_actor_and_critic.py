# cause: stable
# reason: two networks, whose jitted functions haiku gives one name, and an update for each

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

actor = hk.without_apply_rng(hk.transform(lambda s: hk.nets.MLP([8, 3])(s)))
critic = hk.without_apply_rng(hk.transform(lambda s: hk.nets.MLP([8, 1])(s)))
act, value = jax.jit(actor.apply), jax.jit(critic.apply)
optimizer = optax.adam(1e-3)


def make_update(loss_fn):
    @jax.jit
    def update(params, opt_state, states, targets):
        grads = jax.grad(loss_fn)(params, states, targets)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state
    return update


update_actor = make_update(lambda params, states, actions: optax.softmax_cross_entropy(
    actor.apply(params, states), jax.nn.one_hot(actions, 3)).mean())
update_critic = make_update(
    lambda params, states, returns: jnp.mean((critic.apply(params, states)[:, 0] - returns) ** 2))

rng = np.random.default_rng(0)
start = np.zeros((1, 4), np.float32)
actor_params = actor.init(jax.random.PRNGKey(0), start)
critic_params = critic.init(jax.random.PRNGKey(1), start)
actor_state, critic_state = optimizer.init(actor_params), optimizer.init(critic_params)
for _ in range(3):
    states = rng.normal(size=(5, 4)).astype(np.float32)
    actions = np.asarray(act(actor_params, states)).argmax(-1).astype(np.int32)
    returns = np.asarray(value(critic_params, states))[:, 0] + 1
    actor_params, actor_state = update_actor(actor_params, actor_state, states, actions)
    critic_params, critic_state = update_critic(critic_params, critic_state, states, returns)
