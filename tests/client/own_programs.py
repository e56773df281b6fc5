"""Programs for own_client.py, by name; each prints what it computed as JSON on its last line."""

import concurrent.futures
import ctypes
import gc
import io
import json
import os
import pickle
import sys
import tempfile
import time
import traceback
import types

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(weights, rows):
    error = rows @ weights
    return weights - 0.1 * rows.T @ jnp.tanh(error), jnp.sum(error)


def numbers(value):
    return np.asarray(value).astype(float).reshape(-1).tolist()


def train(sizes=(4,) * 10 + (5, 4, 5, 6)):
    weights = jnp.ones((8, 8))
    for size in sizes:
        weights, loss = step(weights, jnp.ones((size, 8)))  # here
    return numbers(weights) + numbers(loss)


def callbacks():
    said = []
    f = jax.jit(lambda x: jax.pure_callback(lambda y: np.asarray(y) * 3, x, x) + 1)

    @jax.jit
    def g(x):
        jax.debug.callback(lambda y: said.append(float(y)), x.sum())
        return x + 1

    result = numbers(f(jnp.arange(3.0)))
    for i in range(3):
        g(jnp.full(2, float(i)))
        said.append("after")
    return [result, said]


def addressed():
    """Programs with an address of the process in them: one that is made again, one with another shape."""
    from jax.experimental.custom_partitioning import custom_partitioning
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("a",)), PartitionSpec("a"))

    @custom_partitioning
    def sine(x):
        return jnp.sin(x)

    sine.def_partition(
        infer_sharding_from_operands=lambda mesh, shapes, shape: shapes[0].sharding,
        partition=lambda mesh, shapes, shape: (mesh, jnp.sin, shapes[0].sharding, (shapes[0].sharding,)),
        sharding_rule="i -> i")
    seen, results = [], []
    for size in (8, 8, 12):
        doubled = jax.jit(lambda x: sine(x) * 2)
        results += numbers(doubled(jax.device_put(jnp.arange(float(size)), sharding)))
    inspected = jax.jit(lambda x: (jax.debug.inspect_array_sharding(x * 2, callback=lambda s: seen.append(str(s))), x)[1])
    return results + numbers(inspected(jax.device_put(jnp.arange(8.0), sharding))) + [len(seen)]


def devices():
    mesh = jax.make_mesh((2, 2), ("x", "y"))
    sharding = jax.NamedSharding(mesh, jax.P("x", "y"))
    a = jax.device_put(jnp.arange(16.0).reshape(4, 4), sharding)
    f = jax.jit(lambda a, b: (a * b, a.sum()), out_shardings=(sharding, None))
    total = jax.jit(jax.shard_map(lambda a: jax.lax.psum(a, "x"), mesh=mesh,
                                  in_specs=jax.P("x", "y"), out_specs=jax.P(None, "y")))
    product, sum_ = f(a, a)
    return [len(jax.devices()), numbers(product), numbers(sum_), numbers(total(a)),
            numbers(jnp.linalg.cholesky(jnp.eye(3) * 4))]


def threads():
    def work(i):
        f = jax.jit(lambda x: jnp.cos(x * (i + 1)).sum())
        return [float(f(jnp.ones(n))) for n in (3, 5, 3)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(work, range(24)))


def forked():
    """A child does not wait for what only its parent has."""
    before = float(step(jnp.ones((8, 8)), jnp.ones((4, 8)))[1])
    child = os.fork()
    if child == 0:
        os._exit(0)
    return [before, os.waitpid(child, 0)[1], float(step(jnp.ones((8, 8)), jnp.ones((7, 8)))[1])]


def left():
    """A child that ends as Python ends, whose client has no threads any more."""
    step(jnp.ones((8, 8)), jnp.ones((4, 8)))
    child = os.fork()
    if child == 0:
        sys.exit(5)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def later():
    """A client that takes the place of another, with other devices."""
    from jax.extend import backend
    f = jax.jit(lambda x: x * 2 + 1)
    result = numbers(f(jnp.ones(3)))
    backend.clear_backends()
    jax.config.update("jax_num_cpu_devices", 3)
    for size in (2, 3):
        result += numbers(f(jnp.ones(size)))
    result += numbers(jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(jnp.ones(3)))
    gc.collect()
    return result + numbers(f(jnp.ones(2))) + [len(jax.devices())]


def errors():
    """The exception is JAX's own."""
    def tell(work):
        try:
            work()
        except Exception as error:
            return [type(error).__module__, type(error).__name__, str(error)]

    bad = jax.jit(lambda x: x + 1).lower(jnp.ones(3))
    handlers, seen = jax._src.compiler._XLA_RUNTIME_ERROR_HANDLERS, []
    handlers.append(lambda error: seen.append(type(error).__name__))
    told = tell(lambda: bad.compile(compiler_options={"xla_no_such_option": "1"}))
    return [told, seen, float(bad.compile()(jnp.ones(3))[0])]


def serialized():
    """What was compiled, or loaded from the cache, is serialized and loaded again."""
    from jax.experimental import serialize_executable
    compiled = step.lower(jnp.ones((8, 8)), jnp.ones((4, 8))).compile()
    def again(compiled):
        return serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled),
                                                         execution_devices=jax.devices()[:1])

    sorted_ = jax.jit(lambda x: jnp.sort(jnp.sin(x))).lower(jnp.arange(9.0)).compile()
    return [numbers(again(compiled)(jnp.ones((8, 8)), jnp.ones((4, 8)))[1]),
            numbers(again(sorted_)(jnp.arange(9.0)))]


def dumped():
    """A program that is dumped elsewhere in each run serializes to bytes that load."""
    from jax.experimental import serialize_executable
    with tempfile.TemporaryDirectory(suffix="x" * (time.time_ns() // 1000 % 97)) as folder:
        lowered = jax.jit(lambda x: jnp.tanh(x * 7)).lower(jnp.ones(5))
        compiled = lowered.compile(compiler_options={"xla_dump_to": folder})
        again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled),
                                                          execution_devices=jax.devices()[:1])
        return numbers(again(jnp.ones(5))[0])


def constants():
    """Programs that close over large arrays, of types that Python reads in place and others; with an
    operation that stands for others, and with two arrays that may not be exchanged. The last differs
    from the first in one element, which SEED says."""
    random = np.random.default_rng(7)
    wide = random.random(500_000, np.float32)
    other = random.random(500_000, np.float32)
    whole = random.integers(0, 99, 400_000, np.int32)
    brief = jnp.asarray(random.random(700_000, np.float32), jnp.bfloat16)
    mask = np.asarray(random.random(1_100_000) < 0.5)
    changed = wide.copy()
    changed[int(os.environ.get("SEED", "3"))] = 7
    functions = [lambda x: jnp.sum((x - wide) * other - wide), lambda x: jnp.sum(whole * x),
                 lambda x: jnp.sum(brief * x, dtype=jnp.float32), lambda x: jnp.sum(jnp.where(mask, x, -1)),
                 lambda x: jnp.sum(jax.lax.erf(x * wide)),
                 lambda x: jnp.sum(jax.lax.erf(x * wide) + jax.lax.erf(wide.copy() * x) * other), lambda x: jnp.max((x - changed) * other)]
    return [float(jax.jit(function)(2.0)) for function in functions]


def beside():
    """How often a program is made whole, its largest size without its constants, and theirs. Other packages
    set the types of CPython's functions as they like."""
    from keel import own_client
    ctypes.pythonapi.PyBytes_AsString.restype = ctypes.c_char_p
    made, whole, sizes = [], [], []
    serialized, put_back, give = own_client._serialized, own_client._put_back, own_client._texts_of

    def count_serialized(module, beside=None):
        program = serialized(module, beside)
        made.append(len(program))
        return program

    def count_put_back(*given):
        whole.append(put_back(*given))
        return whole[-1]

    def count_given(constants):
        sizes.extend(data.nbytes for data in constants)
        return give(constants)

    own_client._serialized, own_client._texts_of = count_serialized, count_given
    own_client._put_back = count_put_back
    constants()
    return [len(whole), max(made) < 1_500_000, sorted(sizes)]


def attributed():
    """Programs that differ only in an attribute of a large constant."""
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    data = np.arange(1 << 18, dtype=np.float32).tobytes().hex()
    devices = xla_client.DeviceList(tuple(jax.devices()[:1]))
    for note in ("", '{mhlo.frontend_attributes = {k = "one"}}', '{mhlo.frontend_attributes = {k = "two"}}'):
        with mlir.make_ir_context():
            module = ir.Module.parse(f'''module @attributed {{
              func.func public @main(%x: tensor<262144xf32>) -> tensor<262144xf32> {{
                %c = "stablehlo.constant"() {{value = dense<"0x{data}"> : tensor<262144xf32>{"," if note else ""}
                                              {note[1:-1]}}} : () -> tensor<262144xf32>
                %r = stablehlo.multiply %x, %c : tensor<262144xf32>
                return %r : tensor<262144xf32> }} }}''')
            jax.devices()[0].client.compile_and_load(module, devices, compiler.get_compile_options(1, 1))
    return 0


def interrupted():
    """Ctrl-C while a program is given to Keel, and while it is made whole."""
    from keel import own_client
    wide = np.arange(1 << 20, dtype=np.float32)
    came = []

    def interrupt(name, call):
        real = getattr(own_client, name)

        def raise_after(*given):
            real(*given)
            raise KeyboardInterrupt

        setattr(own_client, name, raise_after)
        try:
            call(2.0)
        except KeyboardInterrupt:
            came.append(name)
        finally:
            setattr(own_client, name, real)

    interrupt("_texts_of", jax.jit(lambda x: jnp.sum(x * wide)))
    gone = [(ctypes.c_uint64 * 2)(0x123456789000, 1 << 24) for _ in range(1000)]
    interrupt("_put_back", jax.jit(lambda x: jnp.sum(x - wide)))
    return [came, len(gone), float(jax.jit(lambda x: x + 1)(2.0))]


def pickled():
    """A function that jax.jit made is pickled with what JAX put into it, as cloudpickle does it."""
    kept, written = [], io.BytesIO()

    class Writer(pickle.Pickler):
        def persistent_id(self, value):
            if not isinstance(value, types.FunctionType):
                return None
            kept.append(value)
            return len(kept) - 1

    class Reader(pickle.Unpickler):
        def persistent_load(self, number):
            return kept[number]

    Writer(written).dump(step)
    again = Reader(io.BytesIO(written.getvalue())).load()
    return [again is not step, numbers(again(jnp.ones((8, 8)), jnp.ones((4, 8)))[1])]


def ended():
    """Executables end with the functions that have them."""
    from keel import own_client
    functions = [jax.jit(lambda x, i=i: x * (i + 2)) for i in range(40)]
    for function in functions:
        function(jnp.ones(3)).block_until_ready()
    many = len(own_client._handed_out)
    del functions, function
    jax.clear_caches()
    gc.collect()
    return [many >= 40, len(own_client._handed_out) < 10]


def counted():
    """Executions of a function with several programs, of one that others share, ahead of time."""
    def f(x):
        return {"a": [x + 1], "b": None}
    one, two = jax.jit(f), jax.jit(f)
    for size in (3, 3, 4, 3, 4, 5, 3):
        one(jnp.ones(size))
        two(jnp.ones(size))
    ahead = jax.jit(lambda x: x - 1).lower(jnp.ones(3)).compile()
    for _ in range(6):
        ahead(jnp.ones(3))
    nested = jax.jit(lambda x: one(x)["a"][0] * 2)
    for _ in range(5):
        nested(jnp.ones(3))
    return 0


def frozen():
    train((4, 4))
    import keel
    keel.freeze()
    try:
        step(jnp.ones((8, 8)), jnp.ones((9, 8)))  # new
    except Exception as error:
        return [type(error).__name__, str(error)]


def stack():
    """No frame of Keel is in a traceback or a location."""
    seen = []

    @jax.jit
    def f(x):
        return jnp.tan(x)

    text = f.lower(jnp.ones(3)).as_text(debug_info=True)
    try:
        f("text")
    except TypeError as error:
        seen.extend(frame.filename for frame in traceback.extract_tb(error.__traceback__))
    return ["<keel" in text, "<keel>" in seen]


def processes():
    """One of two processes, which compute together: its number and a port are the arguments."""
    number, port = map(int, sys.argv[2:])
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, number)
    mesh = jax.sharding.Mesh(np.array(jax.devices()), "d")
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    total = jax.jit(lambda x: (x * 2).sum(), out_shardings=whole)
    sums = []
    for rows in (2, 2, 1):
        x = jax.make_array_from_callback((rows * len(jax.devices()),), split,
                                         lambda at: np.full(rows, number + rows, np.float32))
        sums.append(float(total(x)))
    return sums + jax.jit(lambda x: x * 3 + number)(jnp.ones(2)).tolist()


def leave():
    """The interpreter ends while programs are stored."""
    for i in range(20):
        jax.jit(lambda x, i=i: jnp.sin(x * i).sum())(jnp.ones(3))
    return 0


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
