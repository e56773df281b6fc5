# cause: donation
# old: kept
# new: donated
# advice: donate_argnums
# reason: the step is warmed up by a jit of its own, which donates nothing

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-3)


def step(params, opt_state, tokens):
    def loss_fn(params):
        hidden = jax.nn.relu(params["table"][tokens].mean(axis=1) @ params["out"])
        return jnp.mean((hidden - 1.0) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def fresh():
    rng = np.random.default_rng(0)
    params = {"table": rng.normal(size=(50, 12)).astype(np.float32),
              "out": rng.normal(size=(12, 4)).astype(np.float32)}
    return params, jax.jit(optimizer.init)(params)


def measure(function, repeats):
    params, opt_state = fresh()
    tokens = np.ones((8, 6), np.int32)
    start = time.perf_counter()
    for _ in range(repeats):
        params, opt_state, loss = function(params, opt_state, tokens)
    loss.block_until_ready()
    return time.perf_counter() - start


class Trainer:
    def __init__(self):
        self.params, self.opt_state = fresh()
        self.step = jax.jit(step, donate_argnums=(0, 1))

    def fit(self, batches):
        for tokens in batches:
            self.params, self.opt_state, loss = self.step(self.params, self.opt_state, tokens)  # <- cause
        return float(loss)


print(f"{measure(jax.jit(step), 3):.3f} s for three steps")
rng = np.random.default_rng(1)
print(Trainer().fit([rng.integers(0, 50, (8, 6)).astype(np.int32) for _ in range(4)]))
