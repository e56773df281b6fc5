# cause: precision
# subject: jax_default_matmul_precision
# old: unset
# new: 'highest'

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Policy(hk.Module):
    def __init__(self, actions):
        super().__init__()
        self.actions = actions

    def __call__(self, observation):
        x = jax.nn.relu(hk.Linear(24)(observation))  # <- cause
        return hk.Linear(self.actions)(x)


policy = hk.without_apply_rng(hk.transform(lambda observation: Policy(4)(observation)))
optimizer = optax.adam(1e-3)


def imitation_loss(params, batch):
    logits = policy.apply(params, batch["observation"])
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["action"]).mean()


@jax.jit
def train(params, opt_state, batch):
    grads = jax.grad(imitation_loss)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


evaluate = jax.jit(imitation_loss)


def sample(seed):
    rng = np.random.default_rng(seed)
    return {"observation": rng.normal(size=(20, 9)).astype(np.float32),
            "action": rng.integers(0, 4, 20).astype(np.int32)}


params = jax.jit(policy.init)(jax.random.key(0), sample(0)["observation"])
opt_state = jax.jit(optimizer.init)(params)
for epoch in range(3):
    params, opt_state = train(params, opt_state, sample(epoch))
    print("validation", float(evaluate(params, sample(100))))
with jax.default_matmul_precision("highest"):
    print("test", float(evaluate(params, sample(101))))
