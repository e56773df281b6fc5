# cause: stable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Score(eqx.Module):
    net: eqx.nn.MLP
    scale: jax.Array

    def __init__(self, key):
        self.net = eqx.nn.MLP(3, 2, 24, 2, activation=jax.nn.silu, key=key)
        self.scale = jnp.ones(2)

    def __call__(self, x, t):
        return self.scale * self.net(jnp.append(x, t))


def noise_loss(model, x, key):
    key_t, key_noise = jax.random.split(key)
    t = jax.random.uniform(key_t, (len(x),))
    noise = jax.random.normal(key_noise, x.shape)
    predicted = jax.vmap(model)(x * (1 - t)[:, None] + noise * t[:, None], t)
    return ((predicted - noise) ** 2).mean()


@eqx.filter_jit(donate="all-except-first")
def make_step(x, model, average, opt_state, key, decay):
    key, used = jax.random.split(key)
    loss, grads = eqx.filter_value_and_grad(noise_loss)(model, x, used)
    updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    model = eqx.apply_updates(model, updates)
    average = jax.tree.map(lambda a, b: decay * a + (1 - decay) * b if eqx.is_inexact_array(a) else a, average, model)
    return model, average, opt_state, key, loss


@eqx.filter_jit
def sample(model, key):
    def body(x, t):
        return x - 0.1 * jax.vmap(model, (0, None))(x, t), None

    return jax.lax.scan(body, jax.random.normal(key, (5, 2)), jnp.linspace(1.0, 0.0, 10))[0]


optimizer = optax.adamw(1e-3)
model = eqx.filter_jit(Score)(jax.random.key(0))
average = eqx.filter_jit(Score)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
key = jax.random.key(1)
rng = np.random.default_rng(0)
for step in range(6):
    x = rng.normal(size=(12, 2)).astype(np.float32)
    decay = jnp.asarray(min(0.99, step / (step + 3)), jnp.float32)
    model, average, opt_state, key, loss = make_step(x, model, average, opt_state, key, decay)
    if step % 3 == 2:
        print(step, float(loss), np.asarray(sample(average, jax.random.key(step))).std())
