"""A fixed set of what JAX does, recorded bit for bit: `behaviours.py [NAME]...` prints one JSON
object, name to record. Nothing here knows of Keel: the same script runs on the bare plugin."""

import concurrent.futures
import functools
import hashlib
import json
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import io_callback, serialize_executable
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

warnings.simplefilter("ignore")
BEHAVIOURS = {}


def behaviour(function):
    BEHAVIOURS[function.__name__] = function
    return function


def record(value):
    """A leaf as dtype, shape and bits; text as it is."""
    if isinstance(value, (str, bool, int, type(None))):
        return value
    if jnp.issubdtype(getattr(value, "dtype", None), jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    bits = array.tobytes()
    short = bits.hex() if len(bits) <= 64 else hashlib.sha256(bits).hexdigest()
    return f"{array.dtype}{list(array.shape)} {short}"


def x64():
    return jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(True)


def matrix(rows=8, columns=8, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(dtype)


def mesh(*shape, names=("x", "y")):
    return Mesh(np.array(jax.devices()[:int(np.prod(shape))]).reshape(shape), names[:len(shape)])


# ---- transformations ---------------------------------------------------------------------------


@behaviour
def jit():
    return jax.jit(lambda a, b: {"product": a @ b, "sum": (a + b).sum()})(matrix(), matrix(seed=1))


@behaviour
def eager_operations():
    a = jnp.arange(12.0).reshape(3, 4)
    return a[1:, ::2] * 3, jnp.sort(-a, axis=0), jnp.where(a > 4, a, 0)


@behaviour
def grad_and_hessian():
    def loss(w, x):
        return jnp.tanh(x @ w).sum()
    return jax.jit(jax.grad(loss))(matrix(), matrix(seed=1)), jax.hessian(
        lambda v: jnp.sin(v).prod())(jnp.arange(1.0, 4.0))


@behaviour
def forward_and_reverse_products():
    _, tangent = jax.jvp(jnp.sin, (matrix(),), (matrix(seed=1),))
    _, pull = jax.vjp(jnp.cumsum, matrix(1, 8)[0])
    return tangent, pull(matrix(1, 8, 2)[0])


@behaviour
def scan_while_and_fori():
    def body(carry, x):
        return carry * 0.9 + x, carry.sum()
    return (jax.jit(lambda c, xs: lax.scan(body, c, xs))(matrix(), np.stack([matrix(seed=i)
                                                                           for i in range(5)])),
            jax.jit(lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5),
                                             (0, 1.0)))(7),
            jax.jit(lambda x: lax.fori_loop(0, 4, lambda i, v: v @ v * 0.1 + i, x))(matrix()))


@behaviour
def cond_and_switch():
    choose = jax.jit(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x))
    switch = jax.jit(lambda i, x: lax.switch(i, [jnp.exp, jnp.tanh, lambda v: v * v], x))
    return [choose(p, matrix()) for p in (True, False)], [switch(i, matrix()) for i in range(3)]


@behaviour
def vmap():
    return jax.vmap(lambda a, b: a @ b, in_axes=(0, None))(np.stack([matrix(), matrix(seed=3)]),
                                                           matrix(seed=4))


@behaviour
def custom_derivatives():
    @jax.custom_jvp
    def f(x):
        return jnp.log1p(jnp.exp(x))

    f.defjvp(lambda primals, tangents: (f(*primals), 3.0 * tangents[0]))

    @jax.custom_vjp
    def g(x):
        return x * x
    g.defvjp(lambda x: (g(x), x), lambda x, t: (7.0 * x * t,))
    return jax.grad(lambda x: f(x).sum())(matrix()), jax.grad(lambda x: g(x).sum())(matrix())


@behaviour
def checkpoint():
    block = jax.checkpoint(lambda w, x: jnp.tanh(x @ w))
    return jax.jit(jax.grad(lambda w, x: block(w, block(w, x)).sum()))(matrix(), matrix(seed=1))


@behaviour
def random_numbers():
    key = jax.random.key(7)
    a, b, c = jax.random.split(key, 3)
    return (a, jax.random.normal(a, (5,)), jax.random.permutation(b, 10),
            jax.random.bits(jax.random.key(3, impl="rbg"), (4,)), jax.random.categorical(
                c, jnp.zeros((3, 5))))


@behaviour
def fourier():
    return jnp.fft.fft(matrix()), jnp.fft.irfft2(jnp.fft.rfft2(matrix()))


@behaviour
def sorting_and_searching():
    x = matrix()
    return (jnp.argsort(x), lax.top_k(x, 3), jnp.unique(np.array([3, 1, 3, 2]), size=3),
            jnp.searchsorted(np.arange(8.0), x), jax.ops.segment_sum(x, np.arange(8) % 3, 3))


@behaviour
def convolution():
    image, kernel = matrix(2 * 3, 64).reshape(2, 3, 8, 8), matrix(4 * 3, 9).reshape(4, 3, 3, 3)
    return lax.conv_general_dilated(image, kernel, (1, 2), "SAME", rhs_dilation=(2, 1))


@behaviour
def linear_algebra_without_library_calls():
    return (jnp.linalg.matrix_power(matrix() * 0.3, 5), jnp.linalg.norm(matrix()),
            jnp.linalg.slogdet(matrix(2, 2)))


@behaviour
def linear_algebra():
    return jnp.linalg.cholesky(matrix() @ matrix().T + 8 * np.eye(8, dtype=np.float32))


@behaviour
def training_step():
    def loss(params, x, y):
        for w, b in params:
            x = jax.nn.gelu(x @ w + b)
        return ((x - y) ** 2).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def step(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value
    params = [(jnp.asarray(matrix(seed=i)), jnp.zeros(8)) for i in range(3)]
    losses = []
    for i in range(4):
        params, value = step(params, matrix(seed=10 + i), matrix(seed=20 + i))
        losses.append(value)
    return losses, params


# ---- types and constants -----------------------------------------------------------------------


@behaviour
def double_precision():
    with x64():
        return (jax.jit(lambda x: (x @ x, jnp.arange(3)))(matrix(dtype=np.float64)),
                jnp.float64(1) / 3, jax.random.normal(jax.random.key(1), (3,), dtype=np.float64))


@behaviour
def small_types():
    x = jnp.asarray(matrix())
    f8 = x.astype(jnp.float8_e4m3fn)
    return (x.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16), x.astype(jnp.float16) * 3,
            lax.bitcast_convert_type(f8, jnp.uint8), (x > 0) ^ (x < 1),
            (x * 9).astype(jnp.int8), (x + 1j * x) @ x, jnp.arange(8, dtype=jnp.uint4).astype(int))


@behaviour
def big_constants():
    table = np.random.default_rng(5).standard_normal((400, 300)).astype(np.float32)
    other = table.copy()
    other[123, 45] = np.nextafter(other[123, 45], 9, dtype=np.float32)
    x = matrix(2, 400)
    return jax.jit(lambda v: v @ table)(x), jax.jit(lambda v: v @ other)(x)


@behaviour
def special_values():
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40], np.float32)
    return jax.jit(lambda x: (x, x * values, jnp.sqrt(x), jnp.minimum(x, 0.0)))(values), jax.jit(
        lambda x: x + np.float32(-0.0))(np.float32(-0.0))


@behaviour
def empty_and_scalar_shapes():
    return jax.jit(lambda a, b: (a, b + 1, a.sum()))(np.zeros((0, 3), np.float32), np.int32(2))


# ---- devices -----------------------------------------------------------------------------------


@behaviour
def donation():
    x = jnp.asarray(matrix(64, 64))
    y = jax.jit(lambda v: v * 2 + 1, donate_argnums=0)(x)
    try:
        np.asarray(x)
        state = "alive"
    except RuntimeError as error:
        state = str(error)
    return y, x.is_deleted(), state


@behaviour
def sharding_over_four_devices():
    four = mesh(2, 2)
    a = jax.device_put(matrix(16, 16), NamedSharding(four, P("x", "y")))
    b = jax.device_put(matrix(16, 16, 1), NamedSharding(four, P("y", None)))
    out = jax.jit(lambda a, b: a @ b, out_shardings=NamedSharding(four, P(None, "x")))(a, b)
    inside = jax.jit(lambda a: lax.with_sharding_constraint(
        jnp.tanh(a), NamedSharding(four, P(None, "y"))).sum(0))(a)
    return (out, str(out.sharding.spec), [record(s.data) for s in out.addressable_shards], inside,
            str(inside.sharding))


@behaviour
def shard_map_and_collectives():
    four = mesh(4)

    def body(v):
        i = lax.axis_index("x")
        return (lax.psum(v, "x"), lax.all_gather(v, "x"), lax.ppermute(
            v, "x", [(k, (k + 1) % 4) for k in range(4)]), lax.psum_scatter(
                jnp.tile(v, (4, 1)), "x", tiled=True), v + i,
                lax.all_to_all(jnp.tile(v, (4, 1)), "x", 0, 0, tiled=True), lax.pmax(v, "x"))
    return jax.jit(jax.shard_map(body, mesh=four, in_specs=P("x"), out_specs=P("x"),
                                 check_vma=False))(matrix(8, 4))


@behaviour
def a_program_for_each_device():
    double = jax.jit(lambda v: v * 2 + 1)
    outs = [double(jax.device_put(matrix(), device)) for device in jax.devices()]
    return outs, [sorted(d.id for d in out.devices()) for out in outs]


@behaviour
def layouts():
    one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    column = Format(Layout(major_to_minor=(1, 0)), one)
    compiled = jax.jit(lambda v: v + 1, in_shardings=column, out_shardings=column).lower(
        jax.ShapeDtypeStruct((4, 8), np.float32)).compile()
    x = jax.device_put(matrix(4, 8), column)
    return compiled(x), str(compiled.output_formats.layout)


@behaviour
def memory_kinds():
    host = NamedSharding(mesh(1), P(), memory_kind="pinned_host")
    return jax.device_put(matrix(), host), [m.kind for m in jax.devices()[0].addressable_memories()]


@behaviour
def the_backend():
    client = jax.devices()[0].client
    return (client.platform, client.platform_version, jax.device_count(), jax.local_device_count(),
            [str(device) for device in jax.devices()], jax.default_backend())


# ---- compiled ahead of time --------------------------------------------------------------------


@behaviour
def ahead_of_time():
    lowered = jax.jit(lambda a, b: jnp.tanh(a @ b)).lower(matrix(), matrix(seed=1))
    compiled = lowered.compile()
    return (compiled(matrix(), matrix(seed=1)), str(compiled.in_avals), str(compiled.out_tree),
            str(compiled.input_shardings), str(compiled.output_shardings))


def plain(value):
    return json.loads(json.dumps(value, default=str, sort_keys=True))


@behaviour
def cost_analysis():
    compiled = jax.jit(lambda a, b: jnp.tanh(a @ b)).lower(matrix(), matrix(seed=1)).compile()
    return json.dumps(plain(compiled.cost_analysis()), sort_keys=True)


@behaviour
def memory_analysis():
    compiled = jax.jit(lambda a: (a @ a, a.sum()), donate_argnums=0).lower(matrix()).compile()
    return str(compiled.memory_analysis())


@behaviour
def serialize_executable_round_trip():
    compiled = jax.jit(lambda a: jnp.tanh(a) @ a).lower(matrix()).compile()
    kept = serialize_executable.serialize(compiled)
    again = [serialize_executable.deserialize_and_load(*kept, execution_devices=jax.devices()[:1])
             for _ in range(2)]
    return [call(matrix()) for call in (compiled, *again)]


@behaviour
def executable_of_a_serialized_program_over_four_devices():
    sharding = NamedSharding(mesh(4), P("x"))
    x = jax.device_put(matrix(8, 4), sharding)
    compiled = jax.jit(lambda a: a / a.sum()).lower(x).compile()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled),
                                                      execution_devices=jax.devices())
    return compiled(x), again(x)


@behaviour
def export_without_serializing():
    exported = jax.export.export(jax.jit(lambda a: jnp.cos(a) @ a))(matrix())
    return exported.call(matrix()), str(exported.in_avals), len(exported.mlir_module()) > 0


@behaviour
def compiler_options():
    lowered = jax.jit(lambda a: jnp.exp(a) @ a).lower(matrix())
    return [lowered.compile(compiler_options=options)(matrix()) for options in (
        {"xla_cpu_enable_fast_math": False}, {"xla_cpu_enable_fast_min_max": False},
        {"xla_backend_optimization_level": 0})]


@behaviour
def optimized_program_text():
    compiled = jax.jit(lambda a: a * 2 + 1).lower(matrix()).compile()
    return "f32[8,8]" in compiled.as_text()


# ---- host callbacks ----------------------------------------------------------------------------


def printed(call):
    lines = []
    try:
        result = call(lines)
        jax.effects_barrier()
        return result, "; ".join(lines)
    except Exception as error:  # the same text with Keel and without is what counts
        return f"{type(error).__name__}: {error}"


@behaviour
def pure_callback():
    return printed(lambda lines: jax.jit(lambda x: jax.pure_callback(
        lambda v: np.asarray(v) * 3, jax.ShapeDtypeStruct((8, 8), np.float32), x))(matrix()))


@behaviour
def ordered_io_callback():
    def body(lines):
        note = lambda v: lines.append(str(float(v)))
        function = jax.jit(lambda x: [io_callback(note, None, x[0, i], ordered=True)
                                      for i in range(3)] and x + 1)
        return function(matrix())
    return printed(body)


@behaviour
def debug_print():
    def body(lines):
        return jax.jit(lambda x: jax.debug.callback(
            lambda v: lines.append(f"value {v}"), x[0, 0]) or x * 2)(matrix())
    return printed(body)


# ---- errors ------------------------------------------------------------------------------------


def error_of(call):
    try:
        return "no error: " + str(jax.tree.map(record, call()))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@behaviour
def unknown_compile_option():
    lowered = jax.jit(lambda x: x + 1).lower(matrix())
    return error_of(lambda: lowered.compile(compiler_options={"xla_no_such_option": 1}))


@behaviour
def unknown_custom_call():
    call = lambda x: jax.ffi.ffi_call("nobody_knows", jax.ShapeDtypeStruct((8, 8), np.float32))(x)
    return error_of(lambda: jax.jit(call)(matrix())), error_of(lambda: jax.jit(call)(matrix()))


@behaviour
def wrong_arguments():
    compiled = jax.jit(lambda x: x + 1).lower(matrix()).compile()
    return error_of(lambda: compiled(matrix(4, 4))), error_of(lambda: jax.jit(jnp.dot)(
        matrix(3, 4), matrix(3, 4)))


@behaviour
def a_program_that_xla_refuses():
    return error_of(lambda: jax.jit(lambda x: x + 1, out_shardings=NamedSharding(
        mesh(4), P(), memory_kind="pinned_host"))(matrix()))


# ---- what must not be kept ---------------------------------------------------------------------


@behaviour
def custom_partitioning_rule():
    @custom_partitioning
    def triple(x):
        return x * 3

    triple.def_partition(
        partition=lambda mesh, args, result: (
            mesh, lambda x: x * 3, result.sharding, tuple(a.sharding for a in args)),
        infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
        sharding_rule="i j -> i j")
    x = jax.device_put(matrix(8, 4), NamedSharding(mesh(4), P("x")))
    return printed(lambda lines: jax.jit(lambda v: triple(v) + 1)(x))


# ---- threads -----------------------------------------------------------------------------------


@behaviour
def threads_with_programs_of_their_own():
    def work(i):
        return record(jax.jit(lambda x: jnp.tanh(x * (i + 2)) @ x)(matrix(seed=i)))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(work, range(16)))


@behaviour
def threads_with_one_program():
    def work(i):
        return record(jax.jit(lambda x: jnp.sinh(x) @ jnp.cosh(x))(matrix()))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(work, range(8)))


@behaviour
def executables_that_come_and_go():
    outs = []
    for i in range(20):
        outs.append(record(jax.jit(lambda x: x * 2 + 1)(matrix(seed=i))))
        if i % 5 == 4:
            jax.clear_caches()
    return outs


def main():
    records = {}
    for name, function in BEHAVIOURS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        try:
            records[name] = jax.tree.map(record, function())
        except Exception as error:
            records[name] = f"raised {type(error).__name__}: {error}"
    print(json.dumps(records))


if __name__ == "__main__":
    main()
