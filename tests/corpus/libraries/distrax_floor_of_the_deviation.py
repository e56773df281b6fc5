# cause: constant
# subject: config.minimum
# old: 0.001
# new: 0.05
# reason: against a collapse of the policy its deviation gets a higher floor; that is a number of the configuration

import dataclasses

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class PolicyConfig:
    minimum: float = 1e-3
    rate: float = 0.05


def make_update(config):
    optimizer = optax.sgd(config.rate)

    def policy_of(params, observation):
        hidden = jax.nn.elu(observation @ params["torso"])
        deviation = jax.nn.softplus(hidden @ params["deviation"]) + config.minimum  # <- cause
        return distrax.MultivariateNormalDiag(hidden @ params["mean"], deviation)

    @jax.jit
    def update(params, batch):
        def loss_fn(params):
            policy = policy_of(params, batch["observation"])
            return -jnp.mean(policy.log_prob(batch["action"]) * batch["advantage"]) - 0.01 * policy.entropy().mean()

        grads = jax.grad(loss_fn)(params)
        updates, _ = optimizer.update(grads, optimizer.init(params))
        return optax.apply_updates(params, updates)

    return update


params = {"torso": np.ones((4, 6), np.float32), "mean": np.ones((6, 2), np.float32),
          "deviation": np.ones((6, 2), np.float32)}
batch = {"observation": np.ones((5, 4), np.float32), "action": np.zeros((5, 2), np.float32),
         "advantage": np.ones(5, np.float32)}
for config in (PolicyConfig(), PolicyConfig(minimum=0.05)):
    update = make_update(config)
    for _ in range(2):
        params = update(params, batch)  # <- call
