# cause: stable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Network(nnx.Module):
    def __init__(self, outputs, rngs):
        self.hidden = nnx.Linear(4, 24, rngs=rngs)
        self.norm = nnx.LayerNorm(24, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.out = nnx.Linear(24, outputs, rngs=rngs)

    def __call__(self, x):
        return self.out(self.dropout(nnx.tanh(self.norm(self.hidden(x)))))


@nnx.jit
def update_critic(critic, optimizer, metrics, batch):
    def loss_fn(critic):
        return ((critic(batch["state"])[:, 0] - batch["return"]) ** 2).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(critic)
    optimizer.update(critic, grads)
    metrics.update(values=loss)


@nnx.jit
def update_actor(actor, critic, optimizer, batch, bonus):
    advantage = jax.lax.stop_gradient(batch["return"] - critic(batch["state"])[:, 0])

    def loss_fn(actor):
        log_probs = jax.nn.log_softmax(actor(batch["state"]))
        taken = jnp.take_along_axis(log_probs, batch["action"][:, None], 1)[:, 0]
        entropy = -(jnp.exp(log_probs) * log_probs).sum(-1)
        return -(advantage * taken + bonus * entropy).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(actor)
    optimizer.update(actor, grads)
    return loss


@nnx.jit
def act(actor, state):
    return actor(state).argmax(-1)


def rollout(rng):
    return {"state": rng.normal(size=(10, 4)).astype(np.float32), "action": rng.integers(0, 3, 10).astype(np.int32),
            "return": rng.normal(size=10).astype(np.float32)}


actor = nnx.jit(lambda: Network(3, nnx.Rngs(0)))()
critic = nnx.jit(lambda: Network(1, nnx.Rngs(1)))()
actor_optimizer = nnx.Optimizer(actor, optax.adam(1e-3), wrt=nnx.Param)
critic_optimizer = nnx.Optimizer(critic, optax.adam(1e-2), wrt=nnx.Param)
metrics = nnx.metrics.Average()
rng = np.random.default_rng(0)
for iteration in range(3):
    actor.train(), critic.train()
    for _ in range(2):
        batch = rollout(rng)
        update_critic(critic, critic_optimizer, metrics, batch)
        update_actor(actor, critic, actor_optimizer, batch, jnp.float32(0.02 / (iteration + 1)))
    actor.eval(), critic.eval()
    print(iteration, float(metrics.compute()), np.asarray(act(actor, rollout(rng)["state"]))[:3])
    metrics.reset()
