"""Results whose shardings a mesh with names and specs alone do not make, each computed with: shares
of sums, parts of shard_map, arrays in a host's memory, arguments that say nothing.

Prints one line for each, the same on 8 devices of any kind and under `keel rehearse`.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

DEVICES = np.array(jax.devices()[:8])
VALUES = np.arange(64, dtype=np.float32).reshape(8, 8)
mesh = Mesh(DEVICES.reshape(2, 4), ("x", "y"))
explicit = Mesh(DEVICES.reshape(2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
rows = NamedSharding(mesh, P("y", None))


def show(name, function):
    try:
        array = function()
    except Exception as error:  # the line says it
        print(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        return
    used = jax.jit(lambda array: array * 2)(array) if array.sharding.memory_kind != "pinned_host" else array
    print(f"{name}: {array.shape} {array.sharding.spec} in {array.sharding.memory_kind}, "
          f"{used.addressable_shards[5].data.shape} on a device")


def product(spec):
    """A sum over axis y that is left to whoever uses it."""
    with jax.set_mesh(explicit):
        a, b = jax.device_put(VALUES, P(None, "y")), jax.device_put(VALUES, P("y", None))
        shares = jax.jit(lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=spec))(a, b)
        print(f"shares of {shares.sharding.spec}: {shares.addressable_shards[0].data.shape}")
        whole = jax.jit(lambda shares: jax.sharding.reshard(shares, P("x")))(shares)
        assert np.array_equal(whole, VALUES @ VALUES)
        return whole


def constrained(x):
    return jax.lax.with_sharding_constraint(x, rows)


def mapped(function, spec_in, spec_out, **options):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=spec_in, out_specs=spec_out, **options))(VALUES)


both = jax.device_put(VALUES, NamedSharding(mesh, P("x", "y")))
hosted = jax.device_put(VALUES, NamedSharding(mesh, P("x", "y"), memory_kind="pinned_host"))
show("all shares of a sum", lambda: product(P(unreduced={"y"})))
show("shares of parts", lambda: product(P("x", unreduced={"y"})))
show("constant", jax.jit(lambda: constrained(jnp.zeros((8, 8)))))
show("random", jax.jit(lambda: constrained(jax.random.normal(jax.random.key(0), (8, 8)))))
show("uncommitted", lambda: jax.jit(lambda x: constrained(x * 3) + 1)(jnp.ones((8, 8))))
show("two results", lambda: jax.jit(lambda x: (constrained(x * 3), x.sum()))(jnp.ones((8, 8)))[0])
show("asked for", lambda: jax.jit(lambda x: x[:, :-1] + 1, out_shardings=rows)(jnp.ones((8, 8))))
show("shard_map", lambda: mapped(lambda x: x + 1, P("x", "y"), P("x", "y")))
show("shard_map, summed", lambda: mapped(lambda x: jax.lax.psum(x, "y"), P("x", "y"), P("x")))
show("shard_map of one axis", lambda: mapped(lambda x: x + 1, P("x"), P("x"), axis_names={"x"}))
show("of a host's memory", lambda: jax.jit(lambda x: x)(hosted))
show("from a host's memory", lambda: jax.jit(lambda x: jax.device_put(x, jax.memory.Space.Device))(hosted))
show("to a host's memory", lambda: jax.jit(lambda x: jax.device_put(x + 1, jax.memory.Space.Host))(both))
