# cause: arguments
# subject: labels
# old: i32[8]
# new: absent
# advice: neutral value
# reason: for guidance without a class, the labels are None in every fourth batch

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Denoiser(eqx.Module):
    classes: eqx.nn.Embedding
    body: eqx.nn.MLP

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.classes = eqx.nn.Embedding(6, 4, key=one)
        self.body = eqx.nn.MLP(9, 4, 16, 2, key=two)

    def __call__(self, noisy, level, label):
        hint = jnp.zeros(4) if label is None else self.classes(label)
        return self.body(jnp.concatenate([noisy, level[None], hint]))


def noise_loss(model, clean, noise, level, labels):
    noisy = clean * jnp.cos(level)[:, None] + noise * jnp.sin(level)[:, None]
    axes = (0, 0, None if labels is None else 0)
    predicted = jax.vmap(model, in_axes=axes)(noisy, level, labels)
    return jnp.mean((predicted - noise) ** 2)


@eqx.filter_jit
def train_step(model, opt_state, clean, noise, level, labels):
    loss, grads = eqx.filter_value_and_grad(noise_loss)(model, clean, noise, level, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def dataset(rng, batches):
    for index in range(batches):
        labels = rng.integers(0, 6, 8).astype(np.int32)
        clean, noise = rng.normal(size=(2, 8, 4)).astype(np.float32)
        level = rng.uniform(0.0, 1.5, 8).astype(np.float32)
        yield clean, noise, level, None if index % 4 == 3 else labels


optimizer = optax.adam(1e-3)
model = eqx.filter_jit(Denoiser)(jax.random.key(0))
opt_state = jax.jit(optimizer.init)(eqx.filter(model, eqx.is_array))
for clean, noise, level, labels in dataset(np.random.default_rng(0), 8):
    model, opt_state, loss = train_step(model, opt_state, clean, noise, level, labels)  # <- cause
print(float(loss))
