# cause: constant
# reason: the table of the noise levels is made by NumPy and closed over; the second run of it ends higher

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

STEPS = 16


class Denoiser(eqx.Module):
    mlp: eqx.nn.MLP

    def __call__(self, x, time):
        return self.mlp(jnp.concatenate([x, time[None] / STEPS]))


def make_step(last):
    betas = np.linspace(1e-4, last, STEPS, dtype=np.float32)
    kept = np.cumprod(1.0 - betas)

    @eqx.filter_jit
    def step(model, x, key):
        time_key, noise_key = jax.random.split(key)
        times = jax.random.randint(time_key, (len(x),), 0, STEPS)
        noise = jax.random.normal(noise_key, x.shape)
        level = jnp.asarray(kept)[times][:, None]  # <- cause
        noisy = jnp.sqrt(level) * x + jnp.sqrt(1 - level) * noise

        def loss_fn(model):
            predicted = jax.vmap(model)(noisy, times.astype(jnp.float32))
            return jnp.mean((predicted - noise) ** 2)

        loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.01 * g, grads)), loss

    return step


x = np.ones((6, 3), np.float32)
model = eqx.filter_jit(lambda key: Denoiser(eqx.nn.MLP(4, 3, 8, 1, key=key)))(jax.random.key(0))
for last in (0.02, 0.05):
    step = make_step(last)
    for number in range(2):
        model, loss = step(model, x, jax.random.key(number))  # <- call
