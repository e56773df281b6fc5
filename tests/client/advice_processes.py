"""Pairs as those of advice_programs.py: what runs outside jit, and programs that advice.py runs in
several processes.

    advice_processes.py FUNCTION...
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

W = 4  # another width for each function, so that none finds the programs of another


def ones(*shape):
    return np.ones(shape, np.float32)


def square(x):
    return (x * x).sum()


# ---- outside jit -------------------------------------------------------------------------------


def eager_accident():
    for size in (7, 12, 20, 33):
        jax.random.uniform(jax.random.key(0), (size, W))  # <- here


def eager_mended():
    def init(key):
        return [jax.random.uniform(key, (size, W)) for size in (7, 12, 20, 33)]

    params = jax.jit(init)(jax.random.key(0))
    return params


def eager_again_accident():
    step = jax.jit(lambda w, x: w + jnp.tanh(x @ w).sum() * jnp.sin(w).sum())
    w = ones(W, W)
    for index in range(6):
        (jnp.tanh(ones(5 + index, W)) * 2.0).sum()  # <- here
        w = step(w, ones(8, W))


def eager_again_mended():
    step = jax.jit(lambda w, x: w + jnp.tanh(x @ w).sum() * jnp.sin(w).sum())

    @jax.jit
    def measure(rows, mask):
        return (jnp.tanh(rows) * 2.0 * mask[:, None]).sum()

    w = ones(W, W)
    for index in range(6):
        rows, mask = np.zeros((16, W), np.float32), np.zeros(16, np.float32)
        rows[: 5 + index], mask[: 5 + index] = 1, 1
        measure(rows, mask)
        w = step(w, ones(8, W))


def host_read_accident():
    @jax.jit
    def step(w):
        return w - 0.1 * jnp.tanh(w), square(w)

    w = ones(W)
    for _ in range(4):
        w, loss = step(w)
        print(float(loss))


def host_read_mended():
    @jax.jit
    def step(w):
        return w - 0.1 * jnp.tanh(w), square(w)

    w = ones(W)
    for index in range(4):
        w, loss = step(w)
        if index % 2:
            print(float(loss))


# ---- of a whole process: advice.py runs these several times ---------------------------------------


def plain():
    jax.jit(lambda x: jnp.tanh(x) * 0.5)(ones(W))


LARGE = 2 << 20  # numbers that differ, so 8 MB of constant


def closes_over():
    constant = np.random.RandomState(0).rand(LARGE).astype(np.float32)
    jax.jit(lambda x: (jnp.tanh(x) * constant).sum())(ones(W)[0])


def takes():
    constant = np.random.RandomState(0).rand(LARGE).astype(np.float32)
    jax.jit(lambda x, constant: (jnp.tanh(x) * constant).sum())(ones(W)[0], constant)


def sum_of_terms(names):
    def step(prior, guide):
        terms = {name: square(prior[name]) - square(guide[name]) for name in names}
        return sum(jnp.cosh(term) for term in terms.values())

    values = {name: ones(W) for name in names}
    jax.jit(step)(values, values)


def of_a_set():
    sum_of_terms({"slope", "intercept", "noise", "rate"})


def of_sorted_names():
    sum_of_terms(sorted({"slope", "intercept", "noise", "rate"}))


def unknown_call():
    """There is no such call: it is read, and the plugin refuses it."""
    result = jax.ShapeDtypeStruct((W,), np.float32)
    try:
        jax.jit(lambda x: jax.ffi.ffi_call("my_call", result)(x, scale=np.float32(2)))(ones(W))
    except jax.errors.JaxRuntimeError as error:
        print(error)


def calls_back():
    """JAX's own client compiles it in each process."""
    result = jax.ShapeDtypeStruct((W,), np.float32)
    print(jax.jit(lambda x: jax.pure_callback(np.sin, result, x) * 2)(ones(W)))


def fewer_devices():
    jax.config.update("jax_pjrt_client_create_options", {"cpu_device_count": 2})
    plain()


for name in sys.argv[1:]:
    globals()[name]()
    W += 1
