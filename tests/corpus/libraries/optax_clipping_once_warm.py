# cause: structure
# reason: a static flag; before it, gradients are not clipped

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.05, momentum=0.9)
clipper = optax.clip_by_global_norm(1.0)


@functools.partial(jax.jit, static_argnames="clip")
def train_step(params, opt_state, batch, clip=False):
    def loss_fn(params):
        logits = jax.nn.relu(batch["x"] @ params["w"]) @ params["out"]
        return optax.sigmoid_binary_cross_entropy(logits[:, 0], batch["y"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    if clip:
        grads, _ = clipper.update(grads, clipper.init(params))  # <- cause
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


rng = np.random.default_rng(0)
params = {"w": rng.normal(size=(6, 8)).astype(np.float32),
          "out": rng.normal(size=(8, 1)).astype(np.float32)}
opt_state = jax.jit(optimizer.init)(params)
losses = []
for step in range(6):
    batch = {"x": rng.normal(size=(10, 6)).astype(np.float32),
             "y": rng.integers(0, 2, 10).astype(np.float32)}
    params, opt_state, loss = train_step(params, opt_state, batch, clip=step >= 3)  # <- call
    losses.append(float(loss))
print(np.mean(losses))
