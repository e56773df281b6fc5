# cause: stable
# reason: the rate falls with the loss, but as an array of the optimizer's state

import jax
import jax.numpy as jnp
import numpy as np
import optax
from optax import contrib

optimizer = optax.chain(
    optax.adam(0.05), contrib.reduce_on_plateau(factor=0.5, patience=1, cooldown=0, accumulation_size=1))


@jax.jit
def init(key):
    params = {"w": jax.random.normal(key, (3, 2)), "b": jnp.zeros(2)}
    return params, optimizer.init(params)


@jax.jit
def train_step(params, opt_state, batch):
    x, y = batch
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state, params, value=loss)
    return optax.apply_updates(params, updates), opt_state, {"loss": loss, "norm": optax.global_norm(grads)}


def loader(rng, rows, size):
    order = rng.permutation(rows)
    for start in range(0, rows - size + 1, size):  # the short rest is dropped
        taken = order[start:start + size]
        yield np.ones((len(taken), 3), np.float32) * taken[:, None], np.zeros((len(taken), 2), np.float32)


params, opt_state = init(jax.random.key(0))
rng, log = np.random.default_rng(0), []
for epoch in range(3):
    for batch in loader(rng, 10, 4):
        params, opt_state, metrics = train_step(params, opt_state, batch)
        log.append({name: float(value) for name, value in metrics.items()})
print(len(log), log[-1])
