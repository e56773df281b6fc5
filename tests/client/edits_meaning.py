"""Edits that change what a program computes or how it is called: each must get a new key.

An edit is a name and two functions, each giving a lowered program, or one and compiler options.
NEUTRAL holds pairs that must keep their key although they are written differently."""

import contextlib
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import io_callback
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

EDITS, NEUTRAL = [], []


def of(dtype, *shape):
    return jax.ShapeDtypeStruct(shape, dtype)


def f32(*shape):
    return of(np.float32, *shape)


def low(function, *arguments, **options):
    return lambda: jax.jit(function, **options).lower(*arguments)


def edit(name, base, edited, table=EDITS):
    table.append((name, base, edited))


def pair(name, arguments, base, edited, **options):
    """Two functions of the same arguments."""
    edit(name, low(base, *arguments, **options), low(edited, *arguments, **options))


def options_of(name, arguments, function, base, edited):
    """One function, two sets of options of jit."""
    edit(name, low(function, *arguments, **base), low(function, *arguments, **edited))


def within(context, make):
    def made():
        with context():
            return make()
    return made


def config(name, value):
    @contextlib.contextmanager
    def changed():
        before = getattr(jax.config, name)
        jax.config.update(name, value)
        try:
            yield
        finally:
            jax.config.update(name, before)
    return changed


X = (f32(8, 8),)
XY = (f32(8, 8), f32(8, 8))
V = (f32(8),)

# ---- constants ---------------------------------------------------------------------------------

table = np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32)
other = table.copy()
other.view(np.uint32)[7, 3] ^= 1
quiet = np.array([0x7fc00000, 0], np.uint32).view(np.float32)
loud = np.array([0x7fc00001, 0], np.uint32).view(np.float32)

pair("a scalar constant by one bit", X, lambda x: x * np.float32(0.1),
     lambda x: x * np.nextafter(np.float32(0.1), np.float32(1)))
pair("an array constant by one bit", (f32(4, 16),), lambda x: x @ table, lambda x: x @ other)
pair("0.0 to -0.0", X, lambda x: x + np.float32(0.0), lambda x: x + np.float32(-0.0))
pair("0.0 to -0.0 inside an array", V, lambda x: x[:2] * np.float32([0.0, 1]),
     lambda x: x[:2] * np.float32([-0.0, 1]))
pair("the payload of a NaN", V, lambda x: (x[:2], quiet), lambda x: (x[:2], loud))
pair("an integer constant", X, lambda x: x.astype(int) + 3, lambda x: x.astype(int) + 4)
pair("a boolean constant", V, lambda x: jnp.where(np.array([True] * 8), x, 0),
     lambda x: jnp.where(np.array([True] * 7 + [False]), x, 0))
pair("one element of an array of equal ones", V, lambda x: x + np.float32([1] * 8),
     lambda x: x + np.float32([1] * 7 + [2]))
pair("the order of an array's elements", V, lambda x: x[:2] + np.float32([1, 2]),
     lambda x: x[:2] + np.float32([2, 1]))
pair("the shape of an array constant", (), lambda: np.zeros((2, 8), np.float32) + 1,
     lambda: np.zeros((8, 2), np.float32) + 1)
pair("a seed", (), lambda: jax.random.normal(jax.random.key(0), (4,)),
     lambda: jax.random.normal(jax.random.key(1), (4,)))
pair("a complex constant's imaginary part", V, lambda x: x * np.complex64(1 + 2j),
     lambda x: x * np.complex64(1 + 3j))
pair("a bfloat16 constant", (of(jnp.bfloat16, 4),), lambda x: x * jnp.bfloat16(1.5),
     lambda x: x * jnp.bfloat16(1.625))

# ---- the calling convention --------------------------------------------------------------------

options_of("an argument is donated", X, lambda x: x + 1, {}, {"donate_argnums": 0})
options_of("another argument is donated", XY, lambda x, y: x + y, {"donate_argnums": 0},
           {"donate_argnums": 1})
options_of("an unused argument is kept", XY, lambda x, y: x + 1, {}, {"keep_unused": True})
pair("the order of outputs", XY, lambda x, y: (x + y, x * y), lambda x, y: (x * y, x + y))
pair("the order of arguments", XY, lambda x, y: x - y, lambda y, x: x - y)
pair("an output more", X, lambda x: x + 1, lambda x: (x + 1, x))
pair("the same output twice", X, lambda x: (x + 1, x), lambda x: (x + 1, x + 1))
edit("a shape", low(jnp.sin, f32(8, 8)), low(jnp.sin, f32(8, 9)))
edit("the rank", low(jnp.sin, f32(8, 8)), low(jnp.sin, f32(64)))
edit("an argument's type", low(jnp.abs, of(np.int32, 8)), low(jnp.abs, of(np.float32, 8)))
edit("signed to unsigned", low(lambda x: x // 3, of(np.int32, 8)),
     low(lambda x: x // 3, of(np.uint32, 8)))
edit("float16 to bfloat16", low(jnp.sin, of(np.float16, 8)), low(jnp.sin, of(jnp.bfloat16, 8)))
edit("64 bits", low(lambda x: x + jnp.arange(8), of(np.int32, 8)),
     within(lambda: jax.enable_x64(True), low(lambda x: x + jnp.arange(8), of(np.int32, 8))))
pair("a weak type that decides the result's", (of(jnp.bfloat16, 8),), lambda x: x * 2.0,
     lambda x: x * np.float32(2.0))
edit("a static argument", low(lambda x, n: x * n, f32(8), 2, static_argnums=1),
     low(lambda x, n: x * n, f32(8), 3, static_argnums=1))

# ---- operations --------------------------------------------------------------------------------

pair("the operation", X, jnp.sin, jnp.cos)
pair("the order of operands", XY, lambda x, y: x - y, lambda x, y: y - x)
pair("association", (f32(8), f32(8), f32(8)), lambda a, b, c: (a + b) + c,
     lambda a, b, c: a + (b + c))
pair("the precision of a product", XY, jnp.matmul,
     lambda x, y: jnp.matmul(x, y, precision="highest"))
edit("the default precision of products", low(jnp.matmul, *XY),
     within(config("jax_default_matmul_precision", "float32"), low(jnp.matmul, *XY)))
pair("the accumulation type of a product", (of(jnp.bfloat16, 8, 8),) * 2,
     lambda x, y: lax.dot(x, y, preferred_element_type=np.float32).astype(jnp.bfloat16),
     lambda x, y: lax.dot(x, y))
pair("contracting dimensions", XY, lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))),
     lambda x, y: lax.dot_general(x, y, (((0,), (0,)), ((), ()))))
pair("batch dimensions", (f32(8, 8, 8),) * 2,
     lambda x, y: lax.dot_general(x, y, (((1,), (2,)), ((0,), (0,)))),
     lambda x, y: lax.dot_general(x, y, (((0,), (2,)), ((1,), (0,)))))
pair("a transposition", (f32(4, 4, 4),), lambda x: x.transpose(0, 2, 1),
     lambda x: x.transpose(2, 1, 0))
pair("a comparison's direction", XY, lambda x, y: x < y, lambda x, y: x <= y)
pair("a stable sort", X, lambda x: lax.sort(x, is_stable=True),
     lambda x: lax.sort(x, is_stable=False))
pair("a sort's dimension", X, lambda x: lax.sort(x, dimension=0),
     lambda x: lax.sort(x, dimension=1))
pair("the number of a sort's keys", XY, lambda x, y: lax.sort((x, y), num_keys=1),
     lambda x, y: lax.sort((x, y), num_keys=2))
SCATTER = (f32(8), of(np.int32, 4), f32(4))
pair("unique indices", SCATTER, lambda x, i, u: x.at[i].add(u),
     lambda x, i, u: x.at[i].add(u, unique_indices=True))
pair("sorted indices", SCATTER, lambda x, i, u: x.at[i].set(u),
     lambda x, i, u: x.at[i].set(u, indices_are_sorted=True))
pair("add to multiply in a scatter's body", SCATTER, lambda x, i, u: x.at[i].add(u),
     lambda x, i, u: x.at[i].multiply(u))
pair("what a gather does out of bounds", SCATTER[:2], lambda x, i: x.at[i].get(mode="clip"),
     lambda x, i: x.at[i].get(mode="fill", fill_value=0))
pair("a reduction's first value", X, lambda x: lax.reduce(x, np.float32(0), lax.add, (0,)),
     lambda x: lax.reduce(x, np.float32(1), lax.add, (0,)))
pair("a reduction's dimension", X, lambda x: x.sum(0), lambda x: x.sum(1))
pair("a reduction's operation", X, lambda x: x.max(0), lambda x: x.min(0))
pair("argmax to argmin", X, lambda x: jnp.argmax(x, 0), lambda x: jnp.argmin(x, 0))
pair("the direction of a running sum", V, lambda x: lax.cumsum(x),
     lambda x: lax.cumsum(x, reverse=True))
pair("a slice's bounds", V, lambda x: x[1:5], lambda x: x[2:6])
pair("a slice's stride", V, lambda x: lax.slice(x, (0,), (7,), (2,)),
     lambda x: lax.slice(x, (0,), (8,), (2,)))
pair("which side is padded", V, lambda x: jnp.pad(x, (1, 2)), lambda x: jnp.pad(x, (2, 1)))
pair("the dimension of a concatenation", XY, lambda x, y: jnp.concatenate([x, y], 0).sum(),
     lambda x, y: jnp.concatenate([x, y], 1).sum())
pair("the dimension of an iota", (), lambda: lax.broadcasted_iota(np.int32, (4, 4), 0),
     lambda: lax.broadcasted_iota(np.int32, (4, 4), 1))
pair("where a vector is broadcast to", V, lambda x: jnp.broadcast_to(x[:, None], (8, 8)),
     lambda x: jnp.broadcast_to(x[None, :], (8, 8)))
pair("the bounds of a clamp", X, lambda x: jnp.clip(x, 0, 1), lambda x: jnp.clip(x, 0, 2))
pair("the sides of a selection", XY, lambda x, y: jnp.where(x > 0, x, y),
     lambda x, y: jnp.where(x > 0, y, x))
pair("bits in place of values", X, lambda x: x.astype(np.int32),
     lambda x: lax.bitcast_convert_type(x, np.int32))
pair("how it rounds", X, lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
     lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN))
pair("reduced precision", X, lambda x: lax.reduce_precision(x, 5, 10),
     lambda x: lax.reduce_precision(x, 8, 7))
pair("the accuracy of an exponential", X, lambda x: lax.exp(x),
     lambda x: lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST))
pair("the kind of a Fourier transform", (of(np.complex64, 8),), jnp.fft.fft, jnp.fft.ifft)
pair("the algorithm of random bits", (of(np.uint32, 4),),
     lambda k: lax.rng_bit_generator(k, (4,), algorithm=lax.RandomAlgorithm.RNG_PHILOX),
     lambda k: lax.rng_bit_generator(k, (4,), algorithm=lax.RandomAlgorithm.RNG_THREE_FRY))
IMAGE = (f32(1, 4, 8, 8), f32(4, 4, 3, 3))
CONVOLUTIONS = {"window_strides": (2, 2), "padding": ((1, 1), (0, 2)), "rhs_dilation": (2, 2),
                "lhs_dilation": (2, 2), "dimension_numbers": ("NCHW", "IOHW", "NCHW"),
                "precision": "highest"}
for field, value in CONVOLUTIONS.items():
    plain = {"window_strides": (1, 1), "padding": ((1, 1), (1, 1))}
    pair(f"a convolution's {field}", IMAGE,
         functools.partial(lax.conv_general_dilated, **plain),
         functools.partial(lax.conv_general_dilated, **(plain | {field: value})))
pair("a convolution's groups", (f32(2, 4, 8, 8), f32(4, 2, 3, 3)),
     lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=2)[:1],
     lambda x, k: lax.conv_general_dilated(x[:, :2], k, (1, 1), "SAME", batch_group_count=2))

# ---- control flow and derivatives --------------------------------------------------------------

pair("the count of a loop", X, lambda x: lax.fori_loop(0, 10, lambda i, v: v * 2, x),
     lambda x: lax.fori_loop(0, 11, lambda i, v: v * 2, x))
pair("the length of a scan", X, lambda x: lax.scan(lambda c, _: (c * 2, None), x, length=5)[0],
     lambda x: lax.scan(lambda c, _: (c * 2, None), x, length=6)[0])
pair("the direction of a scan", X, lambda x: lax.scan(lambda c, v: (c * 2 + v, c), x[0], x),
     lambda x: lax.scan(lambda c, v: (c * 2 + v, c), x[0], x, reverse=True))
pair("a scan unrolled", X, lambda x: lax.scan(lambda c, v: (c * 2 + v, c), x[0], x),
     lambda x: lax.scan(lambda c, v: (c * 2 + v, c), x[0], x, unroll=2))
pair("the bound of a while loop", V,
     lambda x: lax.while_loop(lambda v: v[0] < 9, lambda v: v + 1, x),
     lambda x: lax.while_loop(lambda v: v[0] < 8, lambda v: v + 1, x))
pair("the order of branches", (of(bool), f32(8)), lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x),
     lambda p, x: lax.cond(p, jnp.cos, jnp.sin, x))
pair("a branch more", (of(np.int32), f32(8)), lambda i, x: lax.switch(i, [jnp.sin, jnp.cos], x),
     lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.cos], x))
pair("recomputation in place of keeping", XY,
     jax.grad(lambda w, x: jnp.sin(jnp.tanh(x @ w) @ w).sum()),
     jax.grad(lambda w, x: jnp.sin(jax.checkpoint(lambda w: jnp.tanh(x @ w))(w) @ w).sum()))
pair("an optimization barrier", X, lambda x: (x * 2) * 3,
     lambda x: lax.optimization_barrier(x * 2) * 3)


def with_rule(factor):
    @jax.custom_vjp
    def square(x):
        return x * x
    square.defvjp(lambda x: (square(x), x), lambda x, t: (factor * x * t,))
    return jax.grad(lambda x: square(x).sum())


pair("a rule of derivation", X, with_rule(2.0), with_rule(3.0))


def twice(inner_factor):
    helper = jax.jit(lambda v: jnp.tanh(v) * inner_factor)
    return lambda x: helper(helper(x))


pair("a constant inside a private function", X, twice(0.5), twice(0.25))
pair("which private function is called", X, lambda x: jax.jit(jnp.sin)(jax.jit(jnp.cos)(x)),
     lambda x: jax.jit(jnp.cos)(jax.jit(jnp.sin)(x)))

# ---- devices -----------------------------------------------------------------------------------


def mesh(*shape, order=(0, 1, 2, 3)):
    devices = np.array(jax.devices())[list(order)][:int(np.prod(shape))]
    return Mesh(devices.reshape(shape), ("x", "y")[:len(shape)])


def placed(where, *spec, **more):
    return NamedSharding(where, P(*spec), **more)


def one(device=0):
    return jax.sharding.SingleDeviceSharding(jax.devices()[device])


options_of("an argument's sharding", X, lambda x: x + 1, {"in_shardings": placed(mesh(4), "x")},
           {"in_shardings": placed(mesh(4), None, "x")})
options_of("a sharding over four devices", X, lambda x: x + 1, {},
           {"in_shardings": placed(mesh(4), "x")})
options_of("an output's sharding", X, lambda x: x + 1,
           {"in_shardings": placed(mesh(4), "x"), "out_shardings": placed(mesh(4), "x")},
           {"in_shardings": placed(mesh(4), "x"), "out_shardings": placed(mesh(4))})
options_of("the mesh's shape", X, lambda x: x @ x, {"in_shardings": placed(mesh(4), "x")},
           {"in_shardings": placed(mesh(2, 2), "x")})
options_of("two axes on one dimension", X, lambda x: x @ x,
           {"in_shardings": placed(mesh(2, 2), "x")},
           {"in_shardings": placed(mesh(2, 2), ("x", "y"))})
options_of("the order of axes", X, lambda x: x @ x,
           {"in_shardings": placed(mesh(2, 2), ("x", "y"))},
           {"in_shardings": placed(mesh(2, 2), ("y", "x"))})
options_of("the order of devices", X, lambda x: x + 1,
           {"in_shardings": placed(mesh(4), "x")},
           {"in_shardings": placed(mesh(4, order=(3, 2, 1, 0)), "x")})
options_of("the device", X, lambda x: x + 1, {"in_shardings": one(0)}, {"in_shardings": one(1)})
pair("a constraint on a value's sharding", X,
     lambda x: lax.with_sharding_constraint(x + 1, placed(mesh(4), "x")) * 2,
     lambda x: lax.with_sharding_constraint(x + 1, placed(mesh(4), None, "x")) * 2,
     in_shardings=placed(mesh(4)))
options_of("a layout", X, lambda x: x + 1, {"in_shardings": Format(Layout((0, 1)), one())},
           {"in_shardings": Format(Layout((1, 0)), one())})
options_of("an output's layout", X, lambda x: x + 1,
           {"out_shardings": Format(Layout((0, 1)), one())},
           {"out_shardings": Format(Layout((1, 0)), one())})
options_of("a memory kind", X, lambda x: x + 1,
           {"in_shardings": one(), "out_shardings": one()},
           {"in_shardings": one().with_memory_kind("pinned_host"), "out_shardings": one()})


def mapped(body, *shape, spec=P("x"), out=None):
    return low(jax.shard_map(body, mesh=mesh(*shape), in_specs=spec,
                             out_specs=spec if out is None else out, check_vma=False), f32(8, 8))


edit("the axis of a collective", mapped(lambda v: lax.psum(v, "x"), 2, 2, spec=P("x", "y")),
     mapped(lambda v: lax.psum(v, "y"), 2, 2, spec=P("x", "y")))
edit("a collective's groups", mapped(lambda v: lax.psum(v, "x"), 4), mapped(
    lambda v: lax.psum(v, "x", axis_index_groups=[[0, 1], [2, 3]]), 4))
edit("a collective's operation", mapped(lambda v: lax.pmax(v, "x"), 4),
     mapped(lambda v: lax.pmin(v, "x"), 4))
edit("where a permutation sends to",
     mapped(lambda v: lax.ppermute(v, "x", [(i, (i + 1) % 4) for i in range(4)]), 4),
     mapped(lambda v: lax.ppermute(v, "x", [(i, (i + 3) % 4) for i in range(4)]), 4))
edit("the dimension that is gathered",
     mapped(lambda v: lax.all_gather(v, "x", axis=0, tiled=True).sum(0), 4, out=P(None)),
     mapped(lambda v: lax.all_gather(v, "x", axis=1, tiled=True).sum(0), 4, out=P(None)))
edit("the dimensions of an exchange",
     mapped(lambda v: lax.all_to_all(v, "x", 1, 0, tiled=True).sum(), 4, out=P()),
     mapped(lambda v: lax.all_to_all(v, "x", 1, 1, tiled=True).sum(), 4, out=P()))

# ---- custom calls, callbacks and options -------------------------------------------------------


def call(target="keel_test_target", **attributes):
    return lambda x: jax.ffi.ffi_call(target, f32(8, 8))(x, **attributes)


def call_with(**options):
    return lambda x: jax.ffi.ffi_call("keel_test_target", f32(8, 8), **options)(x)


pair("a custom call's target", X, call(), call("keel_test_other"))
pair("a custom call's configuration", X, call(factor=1), call(factor=2))
pair("the type of a custom call's configuration", X, call(factor=np.int32(1)),
     call(factor=np.int64(1)))
pair("the name of a custom call's setting", X, call(factor=1), call(divisor=1))
pair("a custom call's side effect", X, call_with(), call_with(has_side_effect=True))
pair("a custom call's operand that it may overwrite", X, call_with(),
     call_with(input_output_aliases={0: 0}))
pair("a custom call's layout", X, call_with(),
     call_with(input_layouts=[(1, 0)], output_layouts=(0, 1)))
pair("which triangle a library call reads", X,
     lambda x: lax.linalg.triangular_solve(x, x, lower=True),
     lambda x: lax.linalg.triangular_solve(x, x, lower=False))


def callbacks(first, second):
    def body(x):
        parts = [jax.pure_callback(lambda v: v, f32(8), x[0]),
                 jax.pure_callback(lambda v: v + 1, f32(8), x[0])]
        return parts[first], parts[second]
    return body


pair("a callback's index", X, callbacks(0, 1), callbacks(1, 0))
pair("an ordered callback", X, lambda x: io_callback(lambda v: v, f32(8), x[0], ordered=False),
     lambda x: io_callback(lambda v: v, f32(8), x[0], ordered=True))


def with_options(**options):
    return lambda: (low(lambda x: jnp.exp(x) @ x, *X)(), options)


edit("a compile option that changes code", with_options(),
     with_options(xla_cpu_enable_fast_math=True))
edit("the optimization level", with_options(), with_options(xla_backend_optimization_level=0))
edit("a pass of the compiler left out", with_options(),
     with_options(xla_llvm_disable_expensive_passes=True))

edit("a compile option that only dumps", with_options(),
     with_options(xla_dump_hlo_as_text=True), NEUTRAL)
edit("a named computation", low(lambda x: jnp.sin(x) * 2, *X),
     low(jax.named_call(lambda x: jnp.sin(x) * 2, name="named"), *X), NEUTRAL)
edit("a callback's function", low(lambda x: jax.pure_callback(lambda v: v, f32(8), x[0]), *X),
     low(lambda x: jax.pure_callback(lambda v: v * 9, f32(8), x[0]), *X), NEUTRAL)
