# cause: stable
# reason: the backbone is frozen from the start, the head's rate is warmed up, and an average is kept

import jax
import jax.numpy as jnp
import numpy as np
import optax

schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 4, 20)
optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.partition({"train": optax.adamw(schedule), "freeze": optax.set_to_zero()},
                    {"body": "freeze", "head": "train"}))


def loss_fn(params, batch):
    hidden = jax.nn.relu(batch["x"] @ params["body"]["w"] + params["body"]["b"])
    logits = hidden @ params["head"]["w"] + params["head"]["b"]
    targets = optax.smooth_labels(jax.nn.one_hot(batch["y"], 3), 0.1)
    return optax.softmax_cross_entropy(logits, targets).mean()


@jax.jit
def update(params, average, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, optax.incremental_update(params, average, 0.1), opt_state, loss


evaluate = jax.jit(loss_fn)
rng = np.random.default_rng(0)
params = {"body": {"w": jnp.asarray(rng.normal(size=(4, 6)), jnp.float32), "b": jnp.zeros(6)},
          "head": {"w": jnp.zeros((6, 3)), "b": jnp.zeros(3)}}
average, opt_state = params, optimizer.init(params)
data = {"x": rng.normal(size=(8, 4)).astype(np.float32), "y": np.arange(8, dtype=np.int32) % 3}
for epoch in range(3):
    for rows in np.split(rng.permutation(8), 2):
        batch = {name: value[rows] for name, value in data.items()}
        params, average, opt_state, loss = update(params, average, opt_state, batch)
    print(epoch, float(loss), float(evaluate(average, data)))
