import haiku as hk
import jax
import jax.numpy as jnp
import optax

policy = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 3], activation=jnp.tanh)(x)))
optimizer = optax.adam(1e-2)
act = jax.jit(lambda params, key, x: jax.random.categorical(key, policy.apply(params, x)))


def make_update(multiplier):
    """Updates for one value of the Lagrangian's multiplier."""

    @jax.jit
    def update(params, opt_state, batch):
        def loss_fn(params):
            log_policy = jax.nn.log_softmax(policy.apply(params, batch["observation"]))
            chosen = jnp.take_along_axis(log_policy, batch["action"][:, None], axis=1)[:, 0]
            gain = batch["reward"] - multiplier * batch["cost"]  # <- cause
            return -jnp.mean(chosen * gain)

        grads = jax.grad(loss_fn)(params)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    return update
