# cause: structure
# program: jit_update
# reason: the second attempt restarts its rate once more; each restart is a schedule that is joined to the others

import jax
import jax.numpy as jnp
import numpy as np
import optax

CYCLE = {"init_value": 0.0, "peak_value": 0.1, "decay_steps": 10, "warmup_steps": 2, "end_value": 0.01}


def loss_fn(params, x, y):
    hidden = jax.nn.silu(x @ params["w1"] + params["b1"])
    return jnp.mean(optax.huber_loss(hidden @ params["w2"], y))


class Trainer:
    def __init__(self, cycles):
        self.optimizer = optax.sgd(optax.sgdr_schedule([CYCLE] * cycles), momentum=0.9)

        @jax.jit
        def update(params, opt_state, x, y):
            loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
            updates, opt_state = self.optimizer.update(grads, opt_state, params)  # <- cause
            return optax.apply_updates(params, updates), opt_state, loss

        self.update = update

    def fit(self, params, data, epochs=2):
        opt_state = self.optimizer.init(params)
        for _ in range(epochs):
            for x, y in data:
                params, opt_state, loss = self.update(params, opt_state, x, y)  # <- call
        return float(loss)


rng = np.random.default_rng(0)
data = [(rng.normal(size=(6, 4)).astype(np.float32), rng.normal(size=(6, 1)).astype(np.float32))
        for _ in range(3)]
params = {"w1": 0.1 * rng.normal(size=(4, 8)).astype(np.float32), "b1": np.zeros(8, np.float32),
          "w2": 0.1 * rng.normal(size=(8, 1)).astype(np.float32)}
for cycles in (2, 3):
    print(cycles, Trainer(cycles).fit(params, data))
