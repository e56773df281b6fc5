"""Host callbacks of every kind; prints what they gave and in which order they were called, as one
line of JSON."""

import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from jax.experimental import io_callback

CALLED = []


def shaped(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def pure():
    f = jax.jit(lambda x: jax.pure_callback(np.sin, shaped(x), x) * 2)
    return f(jnp.arange(3.0)).tolist()


def transposed():
    """A result whose layout is not XLA's."""
    f = jax.jit(lambda x: jax.pure_callback(lambda a: a.T, jax.ShapeDtypeStruct((3, 2), x.dtype), x))
    return f(jnp.arange(6.0).reshape(2, 3)).tolist()


def several():
    def split(a, b):
        return a + b, {"less": (a < b), "empty": np.zeros((0, 2), np.int8)}
    want = (jax.ShapeDtypeStruct((4,), jnp.int32),
            {"less": jax.ShapeDtypeStruct((4,), bool), "empty": jax.ShapeDtypeStruct((0, 2), jnp.int8)})
    total, rest = jax.jit(lambda a, b: jax.pure_callback(split, want, a, b))(
        jnp.arange(4), jnp.array([3, 2, 1, 0]))
    return [total.tolist(), rest["less"].tolist(), list(rest["empty"].shape)]


def ordered():
    def note(x):
        CALLED.append(float(x))

    @jax.jit
    def f(x):
        for i in range(3):
            io_callback(note, None, x + i, ordered=True)
        return x
    f(1.0)
    f(10.0)
    jax.effects_barrier()
    return list(CALLED)


def in_a_loop():
    total = []
    f = jax.jit(lambda n: jax.lax.fori_loop(
        0, n, lambda i, x: x + io_callback(lambda a: total.append(int(a)) or a, shaped(x), x), 1))
    return [int(f(5)), total]


def vectorized():
    f = jax.jit(jax.vmap(lambda x: jax.pure_callback(np.cumsum, shaped(x), x,
                                                     vmap_method="sequential")))
    return f(jnp.ones((2, 3))).tolist()


def gradient():
    @jax.custom_vjp
    def f(x):
        return jax.pure_callback(lambda a: a ** 3, shaped(x), x)
    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * 3 * x ** 2,))
    return jax.jit(jax.grad(lambda x: f(x).sum()))(jnp.arange(3.0)).tolist()


def types():
    results = []
    for name in ("bool", "int8", "uint16", "float16", "bfloat16", "complex64", "float8_e4m3fn", "int4",
                 "uint2", "float4_e2m1fn"):
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        x = jnp.array([1, 0, 1, 1, 0], dtype)
        y = jax.jit(lambda x: jax.pure_callback(lambda a: a[::-1], shaped(x), x))(x)
        results.append([name, np.asarray(y).astype(np.complex64).real.tolist()])
    return results


def failing():
    def fail(x):
        raise ValueError("no good")
    try:
        jax.jit(lambda x: jax.pure_callback(fail, shaped(x), x))(jnp.ones(2)).block_until_ready()
    except Exception as error:
        return ["ValueError: no good" in str(error), "CpuCallback error" in str(error)]
    return "no error"


def many():
    """Executions that are still running when the client has dropped what it passed to them."""
    count = []
    f = jax.jit(lambda x: io_callback(lambda a: count.append(1) or a @ a / 300, shaped(x), x @ x / 300))
    x = jnp.ones((300, 300))
    for _ in range(50):
        x = f(x)
    return [round(float(x[0, 0]), 3), len(count)]


def returned():
    """What a program's callbacks did is done when its call returns."""
    said = []

    @jax.jit
    def f(x):
        jax.debug.callback(lambda a: said.append(float(a)), (x @ x).sum())
        return x + 1
    for i in range(5):
        f(jnp.full((200, 200), float(i)))
        said.append("returned")
    return said


def main():
    jax.debug.print("printed {}", jnp.arange(3))
    jax.effects_barrier()
    works = [pure, transposed, several, ordered, in_a_loop, vectorized, gradient, types, failing, many,
             returned]
    print(json.dumps({work.__name__: work() for work in works}))


main()
