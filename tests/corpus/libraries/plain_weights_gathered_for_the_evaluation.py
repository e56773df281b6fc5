# cause: sharding
# subject: params['out']

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))
SPECS = {"in": P(), "out": P(None, "model")}


def place(params, specs):
    return {name: jax.device_put(value, NamedSharding(mesh, specs[name])) for name, value in params.items()}


def place_batch(rows):
    return jax.device_put(rows, NamedSharding(mesh, P("data")))


@jax.jit
def forward(params, x):
    return jnp.tanh(x @ params["in"]) @ params["out"]


class Server:
    def __init__(self, params):
        self.params = params

    def answer(self, rows):
        return np.asarray(forward(self.params, place_batch(rows)))  # <- cause


rng = np.random.default_rng(0)
weights = {"in": rng.normal(size=(8, 16)).astype(np.float32), "out": rng.normal(size=(16, 4)).astype(np.float32)}
rows = rng.normal(size=(6, 4, 8)).astype(np.float32)
server = Server(place(weights, SPECS))
for index in range(3):
    server.answer(rows[index])
server.params = place(server.params, dict.fromkeys(SPECS, P()))
for index in range(3, 6):
    server.answer(rows[index])
