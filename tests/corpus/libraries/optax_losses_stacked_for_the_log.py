# cause: arguments
# old: absent
# new: f32[]
# pattern: eager
# program: jit_stack
# reason: at each step the list of all losses so far is stacked and averaged on the device

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-3))


@jax.jit
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        hidden = jax.nn.silu(x @ params["in"])
        return optax.huber_loss(hidden @ params["out"], y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


class Log:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)
        return jnp.stack(self.losses).mean()  # <- cause


def batches(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.normal(size=(4, 6)).astype(np.float32)
        yield x, np.sin(x[:, :1])


rng = np.random.default_rng(9)
params = {"in": rng.normal(size=(6, 5)).astype(np.float32),
          "out": rng.normal(size=(5, 1)).astype(np.float32)}
opt_state = jax.jit(optimizer.init)(params)
log = Log()
for x, y in batches(1, 8):
    params, opt_state, loss = train_step(params, opt_state, x, y)
    mean = log.add(loss)
print(float(mean))
