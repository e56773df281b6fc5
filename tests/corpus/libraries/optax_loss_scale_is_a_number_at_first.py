# cause: weak_type
# subject: scale
# old: weak f32[]
# new: f32[]
# advice: asarray
# reason: the scale of the loss is Python's 128.0 until the first adjustment returns an array

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(1e-2)


def forward(params, x):
    hidden = jax.nn.gelu(x @ params["in"])
    return hidden @ params["out"]


@jax.jit
def train_step(params, opt_state, scale, x, y):
    def loss_fn(params):
        half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        residual = forward(half, x) - y
        return jnp.mean(residual**2 * scale)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    grads = jax.tree.map(lambda g: g / scale, grads)
    updates, opt_state = optimizer.update(grads, opt_state)
    finite = jnp.isfinite(loss)
    return optax.apply_updates(params, updates), opt_state, loss / scale, finite


@jax.jit
def adjusted(scale, finite):
    return jnp.where(finite, jnp.float32(scale) * 2, jnp.float32(scale) / 2)


def data(count):
    rng = np.random.default_rng(2)
    for _ in range(count):
        x = rng.normal(size=(8, 6)).astype(np.float32)
        yield jnp.asarray(x, jnp.bfloat16), jnp.asarray(x[:, :1] * 2, jnp.bfloat16)


params = {"in": np.full((6, 10), 0.1, np.float32), "out": np.full((10, 1), 0.1, np.float32)}
opt_state = optimizer.init(params)
scale = 128.0
for index, (x, y) in enumerate(data(6)):
    params, opt_state, loss, finite = train_step(params, opt_state, scale, x, y)  # <- cause
    if index == 2:
        scale = adjusted(np.float32(scale), finite)
print(float(loss))
