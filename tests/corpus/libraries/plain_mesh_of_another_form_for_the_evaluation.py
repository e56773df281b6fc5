# cause: sharding
# program: jit_loss_of
# advice: device_put | in_shardings
# reason: the evaluation lays the same four devices out as two by two, so its rows are in halves

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = np.array(jax.devices()[:4])
train_mesh = Mesh(devices, ("data",))
eval_mesh = Mesh(devices.reshape(2, 2), ("data", "model"))


@jax.jit
def loss_of(w, x, y):
    return jnp.mean(jnp.logaddexp(0, -y * (x @ w)))


@jax.jit
def train_step(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


def placed(mesh, *arrays):
    return [jax.device_put(array, NamedSharding(mesh, P("data"))) for array in arrays]


def rows(rng, count):
    x = rng.normal(size=(count, 3)).astype(np.float32)
    return x, np.sign(x.sum(axis=1))


def fit(w, rng):
    for _ in range(3):
        x, y = placed(train_mesh, *rows(rng, 8))
        w = train_step(w, x, y)
        loss = loss_of(w, x, y)
    return w, float(loss)


def evaluate(w, rng):
    w = jax.device_put(w, NamedSharding(eval_mesh, P()))
    x, y = placed(eval_mesh, *rows(rng, 8))
    return float(loss_of(w, x, y))  # <- cause


rng = np.random.default_rng(0)
w = jax.device_put(np.zeros(3, np.float32), NamedSharding(train_mesh, P()))
w, loss = fit(w, rng)
print(loss, evaluate(w, rng))
