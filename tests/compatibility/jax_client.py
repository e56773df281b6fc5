"""A small training in JAX for tools/compatibility. Prints its numbers as JSON.

    jax_client.py                compiles, executes, prints the losses
    jax_client.py TOPOLOGY       compiles for devices that are not there
"""

import json
import sys

import jax
import jax.numpy as jnp


def loss_of(weights, x, y):
    hidden = jax.nn.relu(x @ weights["first"])
    return jnp.mean((hidden @ weights["second"] - y) ** 2)


@jax.jit
def step(weights, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), loss


def made(*shape):
    return jnp.sin(jnp.arange(shape[0] * shape[1], dtype=jnp.float32)).reshape(shape)


def train():
    weights = {"first": made(8, 16), "second": made(16, 4)}
    x, y = made(32, 8), made(32, 4)
    losses = []
    for _ in range(5):
        weights, loss = step(weights, x, y)
        losses.append(float(loss).hex())
    return losses


def compile_only(name):
    from jax.experimental import topologies
    from jax.sharding import NamedSharding, PartitionSpec

    topology = topologies.get_topology_desc(name, platform="tpu")
    mesh = jax.sharding.Mesh(topology.devices, ("x",))
    shapes = {"first": (8, 16), "second": (16, 4)}
    sharding = NamedSharding(mesh, PartitionSpec())

    def shaped(shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)
    weights = {name: shaped(shape) for name, shape in shapes.items()}
    compiled = step.lower(weights, shaped((32, 8)), shaped((32, 4))).compile()
    return bool(compiled.memory_analysis())


if len(sys.argv) > 1:
    print(json.dumps({"numbers": [], "code": compile_only(sys.argv[1])}))
else:
    print(json.dumps({"numbers": train()}))
