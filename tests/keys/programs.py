"""Compiles a few small programs and prints, as JSON, the code of each: digests of its parts, by name.

    programs.py LAYOUT

The order in which a kernel of XLA's takes its buffers depends on where they lie in memory. So what this
process has in its heap before it starts depends on LAYOUT, a small number."""

import json
import sys

kept = [bytes(size) for size in range(1, 700 * int(sys.argv[1]))]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import code_parts  # noqa: E402

platform = jax.devices()[0].platform
platform = {"gpu": "cuda"}.get(platform, platform)
# Several devices share the work, so there are collectives.
split = None if platform == "cpu" else jax.NamedSharding(
    jax.sharding.Mesh(jax.devices(), ("all",)), jax.P("all"))


def elementwise(x):
    return jnp.tanh(jnp.sin(x) + jnp.power(x, 3.3)) / (1 + x * x)


def product(x):
    return jax.nn.softmax(x[:256] @ x[256:512].T).sum(axis=0)


def windows(x):
    rows = jax.lax.conv_general_dilated(x[None, :64], x[None, :64, :3], (1,), "SAME")
    return jnp.cumsum(rows, axis=-1) + jnp.sort(x[:64])


def whole(x):
    return elementwise(x), product(x), windows(x)


def code(function):
    made = jax.jit(function).lower(jax.ShapeDtypeStruct((1024, 512), jnp.float32, sharding=split)).compile()
    memory = made.memory_analysis()
    sizes = [getattr(memory, f"{kind}_size_in_bytes", None) for kind in ("argument", "output", "temp", "alias")]
    return {"text": code_parts.digest(made.as_text()), "memory": code_parts.digest(sizes),
            **code_parts.parts(platform, made.runtime_executable().serialize())}


# Of a TPU's executables, only the first of a process has the same bytes again.
functions = [whole] if platform == "tpu" else [elementwise, product, windows]
print(json.dumps({f"jit_{function.__name__}": code(function) for function in functions}))
