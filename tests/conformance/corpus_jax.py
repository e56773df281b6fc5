"""Programs as JAX users write them. corpus.py lowers and serializes them; nothing is compiled."""

import contextlib
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

CASES = {}


def case(name, function, *arguments, **jit_options):
    """A program to lower: the arguments are shapes, or whatever else jit takes."""
    assert name not in CASES, name
    CASES[name] = lambda: jax.jit(function, **jit_options).lower(*arguments)


def later(name):
    """A program whose making itself may fail where a version of JAX lacks something."""
    def keep(make):
        assert name not in CASES, name
        CASES[name] = make
        return make
    return keep


def of(dtype, *shape):
    return jax.ShapeDtypeStruct(shape, dtype)


def f32(*shape):
    return of(jnp.float32, *shape)


def i32(*shape):
    return of(jnp.int32, *shape)


def x64(enabled=True):
    return jax.enable_x64(enabled) if hasattr(jax, "enable_x64") else \
        jax.experimental.enable_x64(enabled)


@contextlib.contextmanager
def config(**settings):
    before = {name: getattr(jax.config, name) for name in settings}
    try:
        for name, value in settings.items():
            jax.config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


# ---- one operation each --------------------------------------------------------------------------

for _name in ("abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos cosh "
              "digamma erf erf_inv erfc exp exp2 expm1 floor integer_pow is_finite lgamma log "
              "log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh").split():
    _function = getattr(lax, _name)
    if _name == "integer_pow":
        _function = functools.partial(lax.integer_pow, y=5)
    case(f"unary_{_name}", _function, f32(4, 8))

for _name in "add atan2 div max min mul nextafter pow rem sub igamma igammac zeta".split():
    case(f"binary_{_name}", getattr(lax, _name), f32(4, 8), f32(4, 8))

for _name in ("add bitwise_and bitwise_or bitwise_xor div max min mul rem shift_left "
              "shift_right_arithmetic shift_right_logical sub").split():
    case(f"integer_{_name}", getattr(lax, _name), i32(16), i32(16))

for _name in "bitwise_not clz population_count neg sign abs".split():
    case(f"integer_{_name}", getattr(lax, _name), i32(16))

for _name in "eq ne ge gt le lt".split():
    case(f"compare_{_name}", lambda x, y, z, compare=getattr(lax, _name): (
        compare(x, x + 1), compare(y, y), compare(z, z)), f32(4), i32(4), of(jnp.uint8, 4))

for _name in "real imag conj abs exp log sqrt tanh neg".split():
    case(f"complex_{_name}", getattr(lax, _name), of(jnp.complex64, 4))
case("complex_arithmetic", lambda x, y: (lax.complex(x, y) * (2 - 1j) / lax.complex(y, x)),
     f32(3), f32(3))

DTYPES = ("bool int2 uint2 int4 uint4 int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 "
          "bfloat16 float32 float64 complex64 complex128 float8_e3m4 float8_e4m3 float8_e4m3fn "
          "float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu "
          "float4_e2m1fn").split()


def _of_dtype(name):
    def make():
        dtype = getattr(jnp, name)
        held = np.array([0, 1, 1, 0, 1], bool) if name == "bool" else \
            np.array([0, 1, 2, -1, 3] if "uint" not in name and "e8m0" not in name
                     else [1, 1, 2, 1, 3]).astype(dtype)
        with x64():
            return jax.jit(lambda x: (x.astype(dtype), jnp.asarray(held), jnp.full((3,), 1, dtype),
                                      jnp.zeros((2, 2), dtype))).lower(f32(4))
    return make


for _name in DTYPES:
    CASES[f"dtype_{_name}"] = _of_dtype(_name)


@later("bitcasts")
def _():
    return jax.jit(lambda x, y: (lax.bitcast_convert_type(x, jnp.int32),
                                 lax.bitcast_convert_type(x, jnp.int8),
                                 lax.bitcast_convert_type(y, jnp.float32),
                                 lax.reduce_precision(x, 5, 10))).lower(f32(4), of(jnp.uint8, 2, 4))


@later("constants_large")
def _():
    table = np.arange(4096, dtype=np.float32).reshape(64, 64) / 7
    mask = (np.arange(1000) % 3 == 0).reshape(10, 100)
    odd = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38], np.float32)
    return jax.jit(lambda x: (x @ table, jnp.where(mask, 1.0, 2.0), odd + 1,
                              np.ones((3, 0), np.float32), np.array(7, np.int8))).lower(f32(8, 64))


# ---- shapes --------------------------------------------------------------------------------------

case("reshape_transpose", lambda x: x.reshape(4, 6).T.reshape(2, 3, 4).transpose(1, 2, 0),
     f32(2, 12))
case("broadcast", lambda x: (jnp.broadcast_to(x, (5, 3)), x[:, None] + x[None, :]), f32(3))
case("concatenate_pad_reverse", lambda x: (
    jnp.concatenate([x, x * 2], 1), lax.pad(x, 1.5, [(1, 2, 1), (-1, 0, 0)]), lax.rev(x, (0, 1))),
    f32(3, 4))
case("slices", lambda x: (x[1:5:2, ::3], x[::-1], x[..., 0]), f32(8, 9))
case("dynamic_slices", lambda x, i: (
    lax.dynamic_slice(x, (i, i), (2, 2)), lax.dynamic_update_slice(x, x[:2, :2] * 0, (i, 0))),
    f32(8, 8), i32())
case("iota_eye_tri", lambda x: (jnp.arange(7), jnp.eye(4), jnp.tril(x), lax.broadcasted_iota(
    jnp.uint8, (2, 3), 1)), f32(4, 4))
case("select_clamp", lambda c, x, y: (jnp.where(c, x, y), jnp.clip(x, -1, 1), lax.select_n(c, x, y)),
     of(jnp.bool_, 4), f32(4), f32(4))
case("tile_roll_flip", lambda x: (jnp.tile(x, (2, 3)), jnp.roll(x, 2, 1), jnp.flip(x, 0)), f32(2, 5))
case("split_stack", lambda x: jnp.stack(jnp.split(x, 3, 1)[::-1]), f32(2, 9))
case("meshgrid_linspace", lambda n: (jnp.meshgrid(jnp.linspace(0, n, 5), jnp.arange(3.0)),
                                     jnp.logspace(0, 1, 4)), f32())

# ---- products ------------------------------------------------------------------------------------

case("dot_vectors", jnp.dot, f32(8), f32(8))
case("dot_matrix", lambda x, w: x @ w, f32(4, 8), f32(8, 3))
case("dot_batch", lambda x, y: jnp.einsum("bhqd,bhkd->bhqk", x, y), f32(2, 3, 4, 5), f32(2, 3, 6, 5))
case("dot_two_contractions", lambda x, y: lax.dot_general(x, y, (((0, 2), (1, 0)), ((1,), (2,)))),
     f32(2, 3, 4), f32(4, 2, 3))
case("dot_highest", functools.partial(jnp.matmul, precision="highest"), f32(4, 4), f32(4, 4))
case("dot_mixed_precision", lambda x, y: lax.dot(x, y, precision=(lax.Precision.HIGH,
                                                                  lax.Precision.DEFAULT)),
     f32(4, 4), f32(4, 4))
case("dot_bf16_to_f32", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32),
     of(jnp.bfloat16, 4, 8), of(jnp.bfloat16, 8, 4))
case("dot_int8", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32),
     of(jnp.int8, 4, 8), of(jnp.int8, 8, 4))
case("dot_f8", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32),
     of(jnp.float8_e4m3fn, 4, 8), of(jnp.float8_e5m2, 8, 4))
case("dot_algorithm", lambda x, y: lax.dot(x, y, precision="BF16_BF16_F32_X3"), f32(4, 4), f32(4, 4))
case("dot_algorithm_bf16", lambda x, y: lax.dot(x, y, precision="BF16_BF16_F32"),
     of(jnp.bfloat16, 4, 4), of(jnp.bfloat16, 4, 4))
case("dot_ragged", lax.ragged_dot, f32(8, 4), f32(3, 4, 5), i32(3))
case("einsum_chain", lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c), f32(2, 3), f32(3, 4), f32(4, 5))
case("tensordot_kron_outer", lambda a, b: (jnp.tensordot(a, b, 1), jnp.kron(a, b), jnp.outer(a, b)),
     f32(3, 3), f32(3, 3))


def _conv(name, x, w, **options):
    case(f"conv_{name}", lambda x, w: lax.conv_general_dilated(x, w, **options), x, w)


_conv("1d", f32(1, 2, 16), f32(3, 2, 5), window_strides=(1,), padding="SAME")
_conv("2d_nhwc", f32(1, 8, 8, 3), f32(3, 3, 3, 4), window_strides=(2, 2), padding="VALID",
      dimension_numbers=("NHWC", "HWIO", "NHWC"))
_conv("3d", f32(1, 2, 4, 4, 4), f32(3, 2, 2, 2, 2), window_strides=(1, 1, 1), padding="SAME")
_conv("dilated", f32(1, 2, 9, 9), f32(3, 2, 3, 3), window_strides=(1, 1), padding=[(1, 2), (0, 3)],
      lhs_dilation=(2, 1), rhs_dilation=(1, 2))
_conv("groups", f32(1, 4, 8, 8), f32(8, 1, 3, 3), window_strides=(1, 1), padding="SAME",
      feature_group_count=4)
_conv("batch_groups", f32(4, 4, 8, 8), f32(8, 4, 3, 3), window_strides=(1, 1), padding="SAME",
      batch_group_count=2)
_conv("precision", f32(1, 2, 8, 8), f32(2, 2, 3, 3), window_strides=(1, 1), padding="SAME",
      precision=lax.Precision.HIGHEST, preferred_element_type=jnp.float32)
case("conv_transposed", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f32(1, 4, 4, 3),
     f32(3, 3, 3, 2))
case("conv_gradients", jax.grad(lambda w, x: lax.conv_general_dilated(
    x, w, (2, 2), "SAME").sum()), f32(3, 2, 3, 3), f32(1, 2, 8, 8))

# ---- reductions, windows, sorting ----------------------------------------------------------------

for _name in "sum prod max min any all mean var std argmax argmin median cumsum cumprod".split():
    case(f"reduce_{_name}", functools.partial(getattr(jnp, _name), axis=1), f32(4, 6))
case("reduce_axes_keepdims", lambda x: x.sum((0, 2), keepdims=True) + x.max(), f32(2, 3, 4))
case("reduce_custom", lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * b + a, (0,)), f32(4, 5))
case("reduce_pair", lambda x, y: lax.reduce(
    (x, y), (np.float32(0), np.int32(0)),
    lambda a, b: (lax.max(a[0], b[0]), lax.min(a[1], b[1])), (1,)), f32(4, 5), i32(4, 5))
case("cumulative", lambda x: (lax.cummax(x), lax.cummin(x, 1, reverse=True), lax.cumlogsumexp(x)),
     f32(4, 5))
case("associative_scan", lambda x: lax.associative_scan(jnp.add, x, axis=1), f32(3, 9))
case("pool_max", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
     f32(1, 7, 7, 2))
case("pool_average_dilated", lambda x: lax.reduce_window(
    x, 0.0, lax.add, (1, 3), (1, 1), ((0, 0), (1, 2)), (1, 2), (1, 2)), f32(4, 9))
case("pool_max_gradient", jax.grad(lambda x: lax.reduce_window(
    x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID").sum()), f32(8, 8))
case("sort", lambda x: jnp.sort(x, axis=0), f32(5, 3))
case("sort_keys", lambda x, y: lax.sort((x, y), num_keys=1, is_stable=False), f32(9), i32(9))
case("argsort_descending", lambda x: jnp.argsort(x, descending=True), f32(9))
case("top_k", lambda x: lax.top_k(x, 3), f32(4, 9))
case("searchsorted_digitize", lambda x, v: (jnp.searchsorted(x, v), jnp.digitize(v, x)), f32(9), f32(4))
case("histogram_bincount", lambda x, n: (jnp.histogram(x, 5), jnp.bincount(n, length=8)), f32(20), i32(20))
case("unique", functools.partial(jnp.unique, size=4), i32(9))
case("quantile_cov", lambda x: (jnp.quantile(x, 0.3), jnp.cov(x), jnp.corrcoef(x)), f32(3, 8))

# ---- gather and scatter --------------------------------------------------------------------------

case("gather_rows", lambda x, i: x[i], f32(9, 4), i32(3))
case("gather_pairs", lambda x, i, j: x[i, j], f32(9, 4), i32(3), i32(3))
case("gather_modes", lambda x, i: (jnp.take(x, i, mode="clip"), jnp.take(x, i, mode="fill"),
                                   jnp.take(x, i, axis=0, mode="wrap")), f32(9), i32(3))
case("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), f32(4, 9), i32(4, 2))
case("gather_batched", jax.vmap(lambda x, i: x[i]), f32(3, 9), i32(3, 2))
for _name in "set add multiply min max apply divide power".split():
    case(f"scatter_{_name}", lambda x, i, method=_name: getattr(x.at[i], method)(
        jnp.sin if method == "apply" else 2.0), f32(9, 3), i32(4))
case("scatter_unique_sorted", lambda x, i: x.at[i].add(
    1.0, indices_are_sorted=True, unique_indices=True, mode="drop"), f32(9), i32(4))
case("scatter_window", lambda x, i, u: x.at[i, 1:3].set(u), f32(5, 4), i32(2), f32(2, 2))
case("scatter_batched", jax.vmap(lambda x, i: x.at[i].add(1.0)), f32(3, 9), i32(3, 2))
case("segment_sum", functools.partial(jax.ops.segment_sum, num_segments=4), f32(9), i32(9))
case("embedding_gradient", jax.grad(lambda e, t: (e[t] ** 2).sum()), f32(10, 4), i32(7))

# ---- control -------------------------------------------------------------------------------------

case("scan", lambda x: lax.scan(lambda c, y: (c * 0.9 + y, c), x[0], x), f32(8, 4))
case("scan_reverse_unroll", lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x, reverse=True,
                                               unroll=2), f32(8))
case("while", lambda x: lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * 2), (0, x)),
     f32(3))
case("fori", lambda x, n: lax.fori_loop(0, n, lambda i, y: y.at[i].set(i * 1.0), x), f32(8), i32())
case("cond", lambda p, x: lax.cond(p, lambda y: y + 1, jnp.sin, x), of(jnp.bool_), f32(4))
case("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda y: y * y, jnp.exp], x), i32(), f32(4))
case("cond_in_scan_in_while", lambda x: lax.while_loop(
    lambda s: s.sum() < 100,
    lambda s: lax.scan(lambda c, y: (lax.cond(c > 0, lambda: c + y, lambda: c - y), c), 0.0, s)[1] + 1,
    x), f32(6))
case("map", lambda x: lax.map(lambda row: row / row.sum(), x), f32(4, 5))
case("scan_gradient", jax.grad(lambda w, x: lax.scan(
    lambda c, y: (jnp.tanh(c @ w + y), c), x[0], x)[1].sum()), f32(4, 4), f32(6, 4))
case("while_vmapped", jax.vmap(lambda x: lax.while_loop(lambda y: y < 10, lambda y: y * 2, x)), f32(5))
case("cond_vmapped", jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x)), of(jnp.bool_, 5), f32(5))


def _nest(depth):
    function = jnp.sin
    for _ in range(depth):
        function = functools.partial(lambda inner, x: lax.fori_loop(
            0, 3, lambda _, y: inner(y) + 1, x), function)
    return function


case("loops_20_deep", _nest(20), f32(2))

# ---- random numbers, transforms, linear algebra --------------------------------------------------

for _name, _shape in (("normal", (4,)), ("uniform", (2, 3)), ("gumbel", (4,)), ("exponential", (4,)),
                      ("bernoulli", None), ("permutation", 9), ("truncated_normal", None),
                      ("gamma", None), ("categorical", None), ("randint", None), ("choice", 5)):
    def _random(key, name=_name, shape=_shape):
        draw = getattr(jax.random, name)
        if name == "bernoulli":
            return draw(key, 0.3, (4,))
        if name == "truncated_normal":
            return draw(key, -1, 1, (4,))
        if name == "gamma":
            return draw(key, 2.0, (2,))
        if name == "categorical":
            return draw(key, jnp.zeros((3, 4)))
        if name == "randint":
            return draw(key, (5,), 0, 10)
        return draw(key, shape)
    case(f"random_{_name}", lambda s, draw=_random: draw(jax.random.key(s)), i32())

for _name in "rbg unsafe_rbg".split():
    case(f"random_{_name}", lambda s, impl=_name: jax.random.uniform(
        jax.random.split(jax.random.key(s, impl=impl))[0], (5,)), i32())
for _algorithm in (0, 1, 2):
    case(f"rng_bit_generator_{_algorithm}", lambda k, algorithm=_algorithm: lax.rng_bit_generator(
        k, (4,), jnp.uint32, algorithm), of(jnp.uint32, 4))
case("random_fold_in", lambda s: jax.random.normal(jax.random.fold_in(jax.random.key(0), s), (3,)), i32())

for _name, _dtype in (("fft", jnp.complex64), ("ifft", jnp.complex64), ("rfft", jnp.float32),
                      ("irfft", jnp.complex64), ("fft2", jnp.complex64), ("rfftn", jnp.float32)):
    case(f"fft_{_name}", getattr(jnp.fft, _name), of(_dtype, 4, 8))

case("linalg_cholesky", jnp.linalg.cholesky, f32(4, 4))
case("linalg_qr", jnp.linalg.qr, f32(5, 3))
case("linalg_svd", jnp.linalg.svd, f32(5, 3))
case("linalg_eigh", jnp.linalg.eigh, f32(4, 4))
case("linalg_eig", jnp.linalg.eig, f32(4, 4))
case("linalg_solve", jnp.linalg.solve, f32(4, 4), f32(4, 2))
case("linalg_inv_det", lambda x: (jnp.linalg.inv(x), jnp.linalg.det(x), jnp.linalg.slogdet(x)), f32(4, 4))
case("linalg_lstsq_norm", lambda a, b: (jnp.linalg.lstsq(a, b), jnp.linalg.norm(a)), f32(5, 3), f32(5))
case("linalg_expm", jax.scipy.linalg.expm, f32(3, 3))
case("linalg_batched", jax.vmap(jnp.linalg.cholesky), f32(2, 3, 3))
case("triangular_solve", lambda a, b: lax.linalg.triangular_solve(
    a, b, left_side=True, lower=True, transpose_a=True, unit_diagonal=True), f32(3, 3), f32(3, 2))
case("triangular_solve_adjoint", lambda a, b: lax.linalg.triangular_solve(
    a, b, conjugate_a=True, transpose_a=True), of(jnp.complex64, 3, 3), of(jnp.complex64, 2, 3))
case("tridiagonal_solve", lax.linalg.tridiagonal_solve, f32(5), f32(5), f32(5), f32(5, 1))
case("linalg_schur_hessenberg", lambda x: (lax.linalg.schur(x), lax.linalg.hessenberg(x)), f32(4, 4))

# ---- transformations -----------------------------------------------------------------------------


def _mlp(parameters, x):
    for w, b in parameters[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = parameters[-1]
    return x @ w + b


_MLP = [(f32(8, 16), f32(16)), (f32(16, 16), f32(16)), (f32(16, 4), f32(4))]
_mlp_loss = lambda p, x, y: ((_mlp(p, x) - y) ** 2).mean()  # noqa: E731

case("mlp", _mlp, _MLP, f32(5, 8))
case("mlp_grad", jax.value_and_grad(_mlp_loss), _MLP, f32(5, 8), f32(5, 4))
case("mlp_jvp", lambda p, x, y: jax.jvp(lambda q: _mlp_loss(q, x, y), (p,), (p,)), _MLP, f32(5, 8), f32(5, 4))
case("mlp_vmap_grad", jax.vmap(jax.grad(_mlp_loss), (None, 0, 0)), _MLP, f32(5, 8), f32(5, 4))
case("hessian", jax.hessian(lambda x: jnp.sin(x).prod()), f32(3))
case("jacobian", lambda x: (jax.jacfwd(jnp.cumsum)(x), jax.jacrev(jnp.sort)(x)), f32(4))
case("linearize_transpose", lambda x: jax.linear_transpose(lambda y: y[::2] * 3, x)(x[::2]), f32(8))
case("checkpoint", jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.cos(y)).sum())(x)), f32(8))
case("checkpoint_policy", jax.grad(lambda w, x: jax.checkpoint(
    lambda y: jnp.tanh(y @ w).sum(), policy=jax.checkpoint_policies.dots_saveable)(x)), f32(4, 4), f32(2, 4))
case("stop_gradient", jax.grad(lambda x: (lax.stop_gradient(jnp.exp(x)) * x).sum()), f32(3))


@jax.custom_vjp
def _clipped(x):
    return jnp.clip(x, 0, 1)


_clipped.defvjp(lambda x: (_clipped(x), x), lambda x, g: (g * jnp.sign(x),))
case("custom_vjp", jax.grad(lambda x: _clipped(x).sum()), f32(5))


@jax.custom_jvp
def _bumped(x):
    return jnp.sinc(x)


_bumped.defjvp(lambda x, t: (_bumped(x[0]), t[0] * 2.0))
case("custom_jvp", jax.grad(lambda x: _bumped(x).sum()), f32(5))

# ---- names, nesting, arguments -------------------------------------------------------------------


@jax.jit
def _inner(x):
    return jnp.sin(x) + 1


case("nested_jit", lambda x: _inner(_inner(x)) * _inner(x[:2]).sum(), f32(4))


def _scoped(x):
    with jax.named_scope("encoder"):
        with jax.named_scope("layer 0/é\"\\"):
            return _inner(x) @ x


case("named_scope", _scoped, f32(4, 4))
case("named_call", jax.named_call(lambda x: x * 2, name="doubled"), f32(4))
case("pytree", lambda state: {"loss": state["p"]["w"].sum(), "n": state["n"] + 1, "list": [state["xs"][1]]},
     {"p": {"w": f32(3), "unused": f32(9)}, "n": i32(), "xs": [f32(2), f32(2)]})
case("static_argument", lambda x, n: x ** n, f32(4), 3, static_argnums=1)
case("weak_types", lambda x, a: x * a + 2.5, f32(4), 1.5)
case("donation", lambda p, g, lr: (p - lr * g, g * 0), f32(8, 8), f32(8, 8), f32(), donate_argnums=(0, 1))
case("no_arguments", lambda: jnp.ones(3))
case("many_arguments", lambda *xs: sum(xs), *[f32(2)] * 120)
case("keep_unused", lambda x, y: x, f32(2), f32(3), keep_unused=True)
case("barrier", lambda x, y: lax.optimization_barrier((x * 2, y)), f32(2), i32(3))
case("tokens", lambda x: lax.create_token(x), f32(2))


@later("short_locations")
def _():
    with config(jax_include_full_tracebacks_in_locations=False):
        return jax.jit(lambda x: _inner(jnp.cos(x))).lower(f32(4))


# ---- the host ------------------------------------------------------------------------------------

case("pure_callback", lambda x: jax.pure_callback(np.sin, f32(4), x), f32(4))
case("io_callback", lambda x: jax.experimental.io_callback(lambda y: y, f32(4), x, ordered=True), f32(4))
case("debug_print", lambda x: (jax.debug.print("x = {}", x), x * 2)[1], f32(4))
case("debug_print_ordered", lambda x: (jax.debug.print("x = {}", x, ordered=True), x * 2)[1], f32(4))


@later("ffi_call")
def _():
    call = jax.ffi.ffi_call("keel_test_target", f32(4), has_side_effect=True, vmap_method="sequential",
                            input_output_aliases={0: 0})
    return jax.jit(lambda x: call(x, eps=np.float32(1e-5), name="n", flags=np.array([1, 2]), on=True)) \
        .lower(f32(4))


@later("custom_partitioning")
def _():
    from jax.experimental.custom_partitioning import custom_partitioning
    function = custom_partitioning(lambda x: jnp.sin(x))
    function.def_partition(
        infer_sharding_from_operands=lambda mesh, arguments, result: arguments[0].sharding,
        partition=lambda mesh, arguments, result: (
            mesh, jnp.sin, arguments[0].sharding, (arguments[0].sharding,)),
        sharding_rule="i j -> i j")
    return jax.jit(function, in_shardings=_sharded("a", "b")).lower(f32(4, 4))


# ---- several devices -----------------------------------------------------------------------------


def _mesh():
    return Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("a", "b"))


def _sharded(*axes):
    return NamedSharding(_mesh(), P(*axes))


def _shard_map(function, in_specs, out_specs, **options):
    mapper = getattr(jax, "shard_map", None)
    return mapper(function, mesh=_mesh(), in_specs=in_specs, out_specs=out_specs, **options)


def _sharded_case(name, function, *arguments, shardy=True, **options):
    def make():
        made = {key: value() for key, value in options.items()}
        with contextlib.ExitStack() as stack:
            if not shardy:
                stack.enter_context(config(jax_use_shardy_partitioner=False))
            return jax.jit(function, **made).lower(*arguments)
    CASES[name] = make


for _shardy, _suffix in ((True, ""), (False, "_gspmd")):
    _sharded_case(f"sharded_arguments{_suffix}", lambda x, w: x @ w, f32(8, 4), f32(4, 8), shardy=_shardy,
                  in_shardings=lambda: (_sharded("a"), _sharded(None, "b")),
                  out_shardings=lambda: _sharded("a", "b"))
    _sharded_case(f"sharded_axes_together{_suffix}", lambda x: x * 2, f32(8, 8), shardy=_shardy,
                  in_shardings=lambda: _sharded(("a", "b")), out_shardings=lambda: _sharded(None, ("b", "a")))
    _sharded_case(f"sharding_constraint{_suffix}", lambda x: lax.with_sharding_constraint(
        x @ x, _sharded("b", None)) + 1, f32(8, 8), shardy=_shardy, in_shardings=lambda: _sharded("a"))
    _sharded_case(f"sharded_donation{_suffix}", lambda x: x + 1, f32(8, 8), shardy=_shardy,
                  in_shardings=lambda: _sharded("a"), donate_argnums=lambda: (0,))


def _collectives(x):
    def body(y):
        s = lax.psum(y, "a")
        g = lax.all_gather(y, "b", tiled=True)
        p = lax.ppermute(y, "b", [(0, 1), (1, 0)])
        t = lax.all_to_all(y, "a", 0, 1, tiled=True)
        r = lax.psum_scatter(g, "b", scatter_dimension=0, tiled=True)
        return s + p, t, r, lax.pmax(y, ("a", "b")).sum() + lax.axis_index("a")
    return _shard_map(body, P("a", "b"), (P("a", "b"),) * 3 + (P(),), **_CHECK)(x)


_CHECK = {"check_vma": False}
case("shard_map_collectives", _collectives, f32(8, 8))
case("shard_map_psum", lambda x: _shard_map(lambda y: lax.psum(y, "a"), P("a"), P())(x), f32(8, 4))
case("shard_map_gradient", lambda w, x: jax.grad(lambda w: _shard_map(
    lambda w, y: lax.pmean((y @ w).sum(), ("a", "b")), (P(), P("a")), P(), **_CHECK)(w, x))(w),
    f32(4, 4), f32(8, 4))
case("shard_map_ordered_callback", lambda x: _shard_map(
    lambda y: (jax.experimental.io_callback(print, None, y, ordered=True), y * 2)[1], P("a"), P("a"))(x), f32(8, 4))
case("shard_map_partly", lambda x: _shard_map(lambda y: lax.psum(y, "a") * 2, P("a"), P(),
                                              axis_names={"a"})(x), f32(8, 4))
case("shard_map_in_scan", lambda x: lax.scan(lambda c, _: (_shard_map(
    lambda y: lax.ppermute(y, "a", [(0, 1), (1, 0)]) + 1, P("a"), P("a"))(c), None), x, None, length=3)[0],
    f32(8, 4))


@later("pmap")
def _():
    return jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i").lower(np.ones((4, 3), np.float32))


@later("replicated_and_memory_kind")
def _():
    where = NamedSharding(_mesh(), P("a"), memory_kind="unpinned_host")
    return jax.jit(lambda x: x + 1, in_shardings=NamedSharding(_mesh(), P()), out_shardings=where).lower(f32(8))


@later("layouts")
def _():
    from jax.experimental.layout import Format, Layout
    form = Format(Layout((0, 1)), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    return jax.jit(lambda x: x.T, in_shardings=form, out_shardings=form).lower(f32(4, 6))


# ---- models --------------------------------------------------------------------------------------

case("softmax_family", lambda x: (jax.nn.softmax(x), jax.nn.log_softmax(x), jax.nn.logsumexp(x)), f32(3, 5))
case("activations", lambda x: (jax.nn.gelu(x), jax.nn.silu(x), jax.nn.elu(x), jax.nn.softplus(x),
                               jax.nn.leaky_relu(x)), f32(7))
case("one_hot", lambda x: jax.nn.one_hot(x, 5), i32(3))
case("layer_norm", lambda x, g: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(
    x.var(-1, keepdims=True) + 1e-5) * g, f32(4, 8), f32(8))
case("attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
     f32(1, 6, 2, 4), f32(1, 6, 2, 4), f32(1, 6, 2, 4))
case("interp_polynomial", lambda x, xp, fp: (jnp.interp(x, xp, fp), jnp.polyval(fp, x)), f32(5), f32(4), f32(4))
case("special_functions", lambda x: (jax.scipy.special.gammaln(x), jax.scipy.special.ndtri(x),
                                     jax.scipy.stats.norm.logpdf(x)), f32(4))
case("image_resize", lambda x: jax.image.resize(x, (8, 8, 3), "bilinear"), f32(4, 4, 3))
case("float_tricks", lambda x: (jnp.frexp(x), jnp.ldexp(x, 2), jnp.nan_to_num(x), jnp.signbit(x)), f32(4))
case("convolve_correlate", lambda x, y: (jnp.convolve(x, y), jnp.correlate(x, y)), f32(8), f32(3))


def _lstm(p, xs):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ p["w"] + h @ p["u"] + p["b"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros((xs.shape[1], p["u"].shape[0]))
    return lax.scan(step, (zero, zero), xs)[1].mean()


case("lstm_step", jax.value_and_grad(_lstm), {"w": f32(4, 32), "u": f32(8, 32), "b": f32(32)}, f32(6, 2, 4))


def _gpt_shapes(layers, width=16, vocabulary=32, length=8):
    block = {"qkv": f32(width, 3 * width), "out": f32(width, width), "up": f32(width, 4 * width),
             "down": f32(4 * width, width), "norm": [f32(width), f32(width)]}
    return {"tok": f32(vocabulary, width), "pos": f32(length, width), "blocks": [block] * layers}


def _gpt(p, tokens, heads=2):
    x = p["tok"][tokens] + p["pos"][: tokens.shape[1]]
    batch, length, width = x.shape
    norm = lambda y, g: g * y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)  # noqa: E731
    for b in p["blocks"]:
        with jax.named_scope("attention"):
            q, k, v = (a.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)
                       for a in jnp.split(norm(x, b["norm"][0]) @ b["qkv"], 3, -1))
            s = jnp.where(jnp.tril(jnp.ones((length, length), bool)), q @ k.swapaxes(-1, -2), -1e30)
            y = (jax.nn.softmax(s) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
            x = x + y @ b["out"]
        with jax.named_scope("mlp"):
            x = x + jax.nn.gelu(norm(x, b["norm"][1]) @ b["up"]) @ b["down"]
    return x @ p["tok"].T


def _gpt_step(p, m, v, tokens, step):
    def loss(q):
        logits = jax.nn.log_softmax(_gpt(q, tokens[:, :-1]))
        return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()
    value, g = jax.value_and_grad(loss)(p)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.95 * a + 0.05 * b * b, v, g)
    p = jax.tree.map(lambda a, b, c: a - 1e-3 * (b / (1 - 0.9 ** step) / (
        jnp.sqrt(c / (1 - 0.95 ** step)) + 1e-8) + 0.1 * a), p, m, v)
    return p, m, v, value


for _layers in (1, 4):
    case(f"gpt_step_{_layers}", _gpt_step, *[_gpt_shapes(_layers)] * 3, i32(2, 9), f32(),
         donate_argnums=(0, 1, 2))
case("gpt_forward_bf16", lambda p, t: _gpt(jax.tree.map(lambda a: a.astype(jnp.bfloat16), p), t),
     _gpt_shapes(2), i32(2, 8))

# ---- shapes not known ----------------------------------------------------------------------------


def _symbolic(name, function, *specs):
    @later(f"symbolic_{name}")
    def _():
        from jax import export
        scope = export.SymbolicScope()
        arguments = [jax.ShapeDtypeStruct(export.symbolic_shape(spec, scope=scope), dtype)
                     for spec, dtype in specs]
        return export.export(jax.jit(function))(*arguments)


_symbolic("matmul", lambda x, y: x @ y, ("n, 4", jnp.float32), ("4, m", jnp.float32))
_symbolic("reshape", lambda x: jnp.concatenate([x.reshape(-1), x[0]]) + jnp.arange(x.size + x.shape[1]),
          ("n, m", jnp.float32))
_symbolic("slices", lambda x: (x[1:], jnp.pad(x, (1, 2)), jnp.broadcast_to(x, (3, *x.shape))), ("n", jnp.int32))
_symbolic("reduce_window", lambda x: jnp.cumsum(x), ("n", jnp.float32))
_symbolic("conv", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME"), ("b, 2, n, n", jnp.float32),
          ("3, 2, 3, 3", jnp.float32))
_symbolic("gather", lambda x, i: x[i], ("n, 4", jnp.float32), ("m", jnp.int32))
_symbolic("sort", lambda x: jnp.sort(x), ("n", jnp.float32))
