# cause: stable
# reason: tasks are drawn by NumPy; the model adapts in as many steps when it is trained as when it is tested; two seeds

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

INNER = 2
optimizer = optax.adam(optax.cosine_decay_schedule(1e-2, 50))


def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


def adapt(model, x, y, rate):
    for _ in range(INNER):
        grads = eqx.filter_grad(loss_fn)(model, x, y)
        model = eqx.apply_updates(model, jax.tree.map(lambda g: -rate * g, grads))
    return model


@eqx.filter_jit
def meta_step(model, opt_state, support, query, rate):
    def one(model, support, query):
        return loss_fn(adapt(model, *support, rate), *query)

    def meta_loss(model):
        return jnp.mean(eqx.filter_vmap(one, in_axes=(None, 0, 0))(model, support, query))

    loss, grads = eqx.filter_value_and_grad(meta_loss)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


@eqx.filter_jit
def test(model, support, query, rate):
    return loss_fn(model, *query), loss_fn(adapt(model, *support, rate), *query)


@eqx.filter_jit
def make(key):
    return eqx.nn.MLP(1, 1, 8, 2, activation=jnp.tanh, key=key)


def task(rng, rows=5):
    amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0.0, 3.0)
    x = rng.uniform(-3, 3, size=(2 * rows, 1)).astype(np.float32)
    y = (amplitude * np.sin(x + phase)).astype(np.float32)
    return (x[:rows], y[:rows]), (x[rows:], y[rows:])


def tasks(rng, count=3):
    drawn = [task(rng) for _ in range(count)]
    return jax.tree.map(lambda *parts: np.stack(parts), *drawn)


def experiment(seed):
    rng = np.random.default_rng(seed)
    model = make(jax.random.key(seed))
    opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    rate = jnp.asarray(0.05, jnp.float32)
    for _ in range(3):
        support, query = tasks(rng)
        model, opt_state, loss = meta_step(model, opt_state, support, query, rate)
    before, after = test(model, *task(rng), rate)
    return float(loss), float(before), float(after)


for seed in range(2):
    print(seed, experiment(seed))
