# cause: constant
# pattern: counter
# advice: array
# reason: the weight of the entropy is a number of Python's, smaller in each phase

import functools

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(3e-3)


def policy(params, observations):
    hidden = jnp.tanh(observations @ params["torso"])
    return distrax.Categorical(logits=hidden @ params["head"])


def objective(params, batch, entropy_weight):
    actor = policy(params, batch["observations"])
    gain = actor.log_prob(batch["actions"]) * batch["advantages"]
    bonus = entropy_weight * jnp.mean(actor.entropy())  # <- cause
    return -jnp.mean(gain) - bonus


@functools.partial(jax.jit, static_argnames=("entropy_weight",))
def update(params, opt_state, batch, entropy_weight):
    loss, grads = jax.value_and_grad(objective)(params, batch, entropy_weight)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def collect(rng):
    return {
        "observations": rng.normal(size=(16, 5)).astype(np.float32),
        "actions": rng.integers(0, 4, 16).astype(np.int32),
        "advantages": rng.normal(size=16).astype(np.float32),
    }


def train(phases, rounds):
    rng = np.random.default_rng(0)
    params = {"torso": np.full((5, 8), 0.1, np.float32), "head": np.full((8, 4), 0.1, np.float32)}
    opt_state = jax.jit(optimizer.init)(params)
    for phase in range(phases):
        weight = 0.05 * 0.7**phase
        for _ in range(rounds):
            params, opt_state, loss = update(params, opt_state, collect(rng), entropy_weight=weight)  # <- call
        print(f"phase {phase}: {weight:.4f} {float(loss):.4f}")


train(phases=5, rounds=2)
