"""Programs as JAX sends them to a GPU or a TPU, lowered without one.

Usage: lower.py PLATFORM OUT [NAME...]

PLATFORM is cuda, tpu or cpu. Writes OUT/NAME.mlir and OUT/NAME.opts, and OUT/handlers: the functions that
JAX registers for programs to call, in the form of compile_programs.c.
"""

import ctypes
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"

from keel import handlers  # noqa: E402

# ---- the client's functions, as keel.handlers reports them to Keel's library -------------------------


class Place(ctypes.Structure):
    _fields_ = [("library", ctypes.c_char_p), ("base", ctypes.c_void_p),
                ("symbol", ctypes.c_char_p), ("address", ctypes.c_void_p)]


def place(address):
    """The library that an address is in, and its offset there."""
    found = Place()
    locate = ctypes.CDLL(None).dladdr
    locate.argtypes = ctypes.c_void_p, ctypes.POINTER(Place)
    if not address or not locate(address, found):
        return ["-", "0"]
    return [found.library.decode(), str(address - found.base)]


LINES = []


def note(kind, name, platform, api_version, traits, addresses):
    words = [str(kind), name.decode(), platform.decode(), str(api_version), str(traits)]
    LINES.append(words + [word for address in addresses for word in place(address)])


handlers.add_handler = lambda *rest: note(0, *rest)
handlers.add_type = lambda name, platform, number, functions: note(
    1, name, platform, 0, 0, [number, *functions])
handlers.begin()

# ---- programs --------------------------------------------------------------------------------------

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax._src import compiler  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

PLATFORM, OUT = sys.argv[1:3]
X = jnp.ones((256, 256))
KEY = jax.random.PRNGKey(0)


def add(a, b, out):
    out[...] = a[...] + b[...]


def pallas(a, b):
    from jax.experimental import pallas
    spec = pallas.BlockSpec((64, 256), lambda i: (i, 0))
    return pallas.pallas_call(add, out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype), grid=(4,),
                              in_specs=[spec, spec], out_specs=spec)(a, b)


def layers(x, count):
    for _ in range(count):
        x = jax.nn.gelu(x @ x.T) + jnp.tanh(x) @ x
        x = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-6)
    return x.sum()


MESH = jax.sharding.AbstractMesh((8,), ("x",))
ROWS = jax.ShapeDtypeStruct((256, 64), jnp.float32, sharding=jax.NamedSharding(MESH, P("x")))


def sharded(x):
    return jax.shard_map(lambda a: jax.lax.psum(jnp.sin(a) @ a.T, "x"), mesh=MESH, in_specs=P("x"),
                         out_specs=P())(x)


# Of all platforms, then those of one.
PROGRAMS = {
    "matmul": (lambda a, b: jnp.tanh(a @ b), X, X),
    "softmax": (lambda a: jax.nn.softmax(a @ a.T), X),
    "random": (lambda k: jax.random.normal(k, (128, 128)), KEY),
    "scan": (lambda a: jax.lax.scan(lambda c, _: (jnp.sin(c) @ c, c.sum()), a, None, length=10), X),
    "eigh": (jnp.linalg.eigh, X),
    "cholesky": (jnp.linalg.cholesky, X),
    "qr": (jnp.linalg.qr, X),
    "solve": (lambda a: jnp.linalg.solve(a, a[:, 0]), X),
    "sharded": (sharded, ROWS),
}
LAYERS = {f"layers{i}": (lambda x, i=i: jax.grad(lambda y: layers(y, i))(x), jnp.ones((128, 128)))
          for i in range(1, 17)}
FEW = 8  # of them are made if none is named
ONLY = {
    "cuda": {"pallas": (pallas, X, X), "svd": (jnp.linalg.svd, X), "eig": (jnp.linalg.eig, X)},
    "tpu": {"pallas": (pallas, X, X),
            "huge": (lambda a: jnp.sin(a) @ a,
                     jax.ShapeDtypeStruct((1 << 17, 1 << 17), jnp.float32))},
    "cpu": {},
}
DEVICES = {"sharded": 8}


def context(platform):
    """Pallas asks what device it lowers for."""
    kinds = {"cuda": ("NVIDIA H200", 132, "gpu"), "tpu": ("TPU v6 lite", 1, "tpu")}
    kind, cores, name = kinds[platform]
    device = jax.sharding.AbstractDevice(device_kind=kind, num_cores=cores, platform=name)
    mesh = jax.sharding.AbstractMesh((1,), ("one",), (jax.sharding.AxisType.Explicit,),
                                     abstract_device=device)
    return jax.sharding.use_abstract_mesh(mesh)


def lower(name, function, *arguments):
    traced = jax.jit(function).trace(*arguments)
    if name == "pallas":
        with context(PLATFORM):
            traced = jax.jit(function).trace(*arguments)
            lowered = traced.lower(lowering_platforms=(PLATFORM,))
    else:
        lowered = traced.lower(lowering_platforms=(PLATFORM,))
    return mlir.module_to_bytecode(lowered.compiler_ir("stablehlo"))


def options(count):
    made = compiler.get_compile_options(num_replicas=1, num_partitions=count,
                                        device_assignment=np.arange(count).reshape(1, count))
    made.executable_build_options.use_spmd_partitioning = True
    return made.SerializeAsString()


def main():
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, "handlers"), "w") as file:
        file.writelines("\t".join(words) + "\n" for words in LINES)
    wanted = sys.argv[3:] or [*PROGRAMS, *ONLY[PLATFORM], *list(LAYERS)[:FEW]]
    for name, (function, *arguments) in (PROGRAMS | ONLY[PLATFORM] | LAYERS).items():
        if name not in wanted:
            continue
        with open(os.path.join(OUT, f"{name}.mlir"), "wb") as file:
            file.write(lower(name, function, *arguments))
        with open(os.path.join(OUT, f"{name}.opts"), "wb") as file:
            file.write(options(DEVICES.get(name, 1)))


main()
