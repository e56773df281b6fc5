"""What JAX runs by itself, outside jit, is free in a contract. What the user jitted is not, whoever wrote
the function: JAX's own transformations make functions of the user's, and JAX's functions can be jitted."""

import os
import re

from harness import KEEL, PYTHON, Report, Workspace, clean_environment, run, told

report = Report()

# Each jits something that JAX's own code defines.
JITTED = '''
import functools, jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import checkify, pallas as pl
x = np.ones((3, 4), np.float32)
def loss(x): return jnp.tanh(x).sum() * 0.5
def kernel(a, out): out[...] = a[...] * 0.5
pallas = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)
exported = jax.export.export(jax.jit(loss))(x)
jax.jit(checkify.checkify(loss))(x)
jax.jit(exported.call)(x)
jax.jit(jax.linear_transpose(lambda x: x * 0.5, x))(x)
jax.jit(jnp.linalg.svd)(x)
jax.jit(jax.nn.softmax)(x)
jax.jit(jnp.add)(x, x)
jax.jit(functools.partial(lax.scan, lambda c, y: (c + y, c)))(x[0], x)
jax.jit(jnp.cumsum).lower(x).compile()
jax.export.export(jax.jit(lambda x: x * 0.25))(x).call(x)
pallas(x)
lax.reduce(x, np.float32(0), lambda a, b: a + b * 0.5, (0,))
lax.map(lambda row: row * 0.5, x)
jnp.asarray(x).at[0].apply(lambda value: value * 0.5)
jax.vmap(jax.jit(checkify.checkify(lambda row: row.sum())))(x)
jax.pmap(loss)(x[:1])
'''
LISTED = ["_fun", "add", "call", "call_exported", "checked_fun", "cumsum", "reduce", "scan", "scatter",
          "softmax", "svd", "transposed_fun", "wrapped"]

OPERATIONS = '''
import jax, jax.numpy as jnp, numpy as np
from jax import lax
step = jax.jit(lambda x: x * 2)
x = jnp.asarray(step(np.ones((3, 4), np.float32)))
x + 1, -x, jnp.tanh(x), jnp.add(x, x), x[0], x.at[0].add(1.0), x.at[0].set(2.0), jnp.maximum.accumulate(x)
lax.reduce_window(x, 0.0, lax.add, (1, 2), (1, 1), "VALID"), jnp.add.reduce(x), jnp.searchsorted(x[0], x[1])
jax.random.normal(jax.random.key(0), (3,)), jax.random.permutation(jax.random.key(0), x)
jnp.linalg.svd(x), jnp.einsum("ij,kj->ik", x, x), jax.nn.softmax(x), jax.nn.relu(x), jax.nn.one_hot(jnp.arange(3), 3)
jax.grad(lambda x: (jnp.tanh(-x) * jnp.linalg.norm(x @ x.T)).sum())(x), jax.vmap(jnp.dot)(x, x)
jax.linearize(lambda x: jnp.tanh(x).sum(), x)[1](x), jnp.percentile(x, 50), jnp.unique(x), jnp.sort(x)
'''


def listed(space, name, script):
    """The entries of a contract that the script's run is recorded in."""
    path = space.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    contract = path.with_suffix(".contract")
    environment = clean_environment() | {
        "KEEL_CACHE_DIR": str(space.path("cache")), "KEEL_RUN_DIR": str(space.path("runs")),
        "KEEL_CONFIG": os.devnull, "KEEL_QUIET": "1"}
    answer = run([KEEL, "contract", "record", "-o", contract, "--", PYTHON, path], environment)
    if not report.check(f"{name}: the run is recorded", answer.code == 0, told(answer)):
        return []
    return sorted(set(re.findall("^entry jit_(.*)$", contract.read_text(), re.MULTILINE)))


def main():
    with Workspace("operations") as space:
        report.equal("what the user jitted is listed, and what holds code of the user's",
                     listed(space, "jitted.py", JITTED), LISTED)
        report.equal("operations outside jit are not listed",
                     listed(space, "operations.py", OPERATIONS), ["_lambda"])
        report.equal("a script in a folder that is named like JAX's is the user's",
                     listed(space, "jax/numpy/train.py", "import jax, numpy as np\ndef step(x): return x * 2\n"
                            "jax.jit(step)(np.ones(4, np.float32))\n"), ["step"])
    report.finish()


main()
