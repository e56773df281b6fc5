# cause: stable
# reason: a variational autoencoder, trained, then sampled from in batches of one size

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Encoder(hk.Module):
    def __call__(self, x):
        x = jax.nn.relu(hk.Linear(8)(x))
        return hk.Linear(2)(x), jnp.exp(hk.Linear(2)(x))


class Decoder(hk.Module):
    def __call__(self, z):
        return hk.Linear(6)(jax.nn.relu(hk.Linear(8)(z)))


@hk.transform
def model(x):
    mean, std = Encoder()(x)
    z = mean + std * jax.random.normal(hk.next_rng_key(), mean.shape)
    return Decoder()(z), mean, std


decoder = hk.without_apply_rng(hk.transform(lambda z: Decoder()(z)))
optimizer = optax.adam(1e-3)


@jax.jit
def update(params, opt_state, key, x):
    def loss_fn(params):
        logits, mean, std = model.apply(params, key, x)
        likelihood = -optax.sigmoid_binary_cross_entropy(logits, x).sum(-1)
        divergence = 0.5 * (mean ** 2 + std ** 2 - 1 - 2 * jnp.log(std)).sum(-1)
        return (divergence - likelihood).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def imagine(params, key):
    return jax.nn.sigmoid(decoder.apply(params, jax.random.normal(key, (4, 2))))


keys = hk.PRNGSequence(0)
x = (np.arange(24).reshape(4, 6) % 2).astype(np.float32)
params = model.init(next(keys), x)
opt_state = optimizer.init(params)
for epoch in range(3):
    params, opt_state, loss = update(params, opt_state, next(keys), x)
    print(epoch, float(loss), float(imagine(params, next(keys)).mean()))
