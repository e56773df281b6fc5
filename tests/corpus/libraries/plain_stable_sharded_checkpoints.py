# cause: stable
# reason: the state has one sharding as input and output, also after it was restored

import pickle

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
replicated, rows_split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))


def init(key):
    a, b = jax.random.split(key)
    params = {"w": jax.random.normal(a, (10, 20)) * 0.1, "v": jax.random.normal(b, (20, 4)) * 0.1}
    return {"params": params, "momentum": jax.tree.map(jnp.zeros_like, params), "step": jnp.zeros((), jnp.int32)}


def train_step(state, x, labels):
    def loss_fn(params):
        logits = jax.nn.relu(x @ params["w"]) @ params["v"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    rate = 0.1 * jnp.minimum(1.0, (state["step"] + 1) / 5)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - rate * m, state["params"], momentum)
    return {"params": params, "momentum": momentum, "step": state["step"] + 1}, loss


step = jax.jit(train_step, donate_argnums=0, in_shardings=(replicated, rows_split, rows_split),
               out_shardings=(replicated, replicated))


def run(state, rng, count):
    for _ in range(count):
        x = jax.device_put(rng.normal(size=(16, 10)).astype(np.float32), rows_split)
        labels = jax.device_put(rng.integers(0, 4, 16).astype(np.int32), rows_split)
        state, loss = step(state, x, labels)
    return state, float(loss)


rng = np.random.default_rng(0)
state = jax.jit(init, out_shardings=replicated)(jax.random.key(0))
state, loss = run(state, rng, 4)
stored = pickle.dumps(jax.device_get(state))
print("stored", len(stored), "bytes at loss", loss)
state = jax.device_put(pickle.loads(stored), replicated)
state, loss = run(state, rng, 4)
print(int(state["step"]), loss)
