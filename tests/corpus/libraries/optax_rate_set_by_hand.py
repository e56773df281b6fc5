# cause: weak_type
# subject: opt_state.hyperparams['learning_rate']
# old: f32[]
# new: weak f32[]
# reason: a Python number replaces the array that the state held

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_params(key):
    keys = jax.random.split(key, 2)
    return {"in": jax.random.normal(keys[0], (6, 16)) * 0.3, "out": jax.random.normal(keys[1], (16,)) * 0.3}


def predict(params, x):
    return jax.nn.softplus(x @ params["in"]) @ params["out"]


optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=1e-2)


@jax.jit
def step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(lambda p: optax.huber_loss(predict(p, x), y).mean())(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


class Plateau:
    """Halves the rate if the loss did not improve."""

    def __init__(self):
        self.best = float("inf")

    def __call__(self, loss, opt_state):
        if loss >= self.best * 0.999:
            opt_state.hyperparams["learning_rate"] = float(opt_state.hyperparams["learning_rate"]) * 0.5
        self.best = min(self.best, loss)


params = jax.jit(init_params)(jax.random.key(0))
opt_state = jax.jit(optimizer.init)(params)
rng = np.random.default_rng(2)
plateau = Plateau()
for epoch in range(4):
    for _ in range(3):
        x = rng.normal(size=(12, 6)).astype(np.float32)
        params, opt_state, loss = step(params, opt_state, x, x[:, 0])  # <- cause
    plateau(float(loss) if epoch < 2 else 1e9, opt_state)
print(float(opt_state.hyperparams["learning_rate"]))
