"""What the user reads on stderr below `keel run` is what JAX says on its own CPU client: nothing that
the embedded plugin prints, and all that JAX says itself."""

import os
import re

from harness import (KEEL, PYTHON, Report, Workspace, clean_environment, finish, last_json, run,
                     start, told)

report = Report()

# Kernels, libraries for convolutions and products, callbacks, loops, random numbers, several types.
PROGRAM = '''
import json, sys
import jax, jax.numpy as jnp, numpy as np
{before}
x = jnp.asarray(np.arange(16, dtype=np.float32).reshape(4, 4) % 5 + np.eye(4, dtype=np.float32))
found = [jax.jit(lambda a: a @ a)(x).sum(), jnp.linalg.svd(x)[1][0], jnp.linalg.solve(x, x[0])[0],
         jnp.abs(jnp.fft.fft(x)).sum(), jax.random.normal(jax.random.key(0), (3,)).sum(),
         jax.lax.conv_general_dilated(jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3)), (1, 1), "SAME").sum(),
         jax.pure_callback(lambda a: np.asarray(a), jax.ShapeDtypeStruct((4, 4), x.dtype), x).sum(),
         jax.lax.scan(lambda c, a: (c + a.sum(), c), 0.0, x)[0], jnp.sort(x.ravel())[3],
         jax.jit(jax.grad(lambda a: jnp.tanh(a.astype(jnp.bfloat16)).sum().astype(jnp.float32)))(x).sum(),
         jax.jit(lambda a, i: jnp.cumsum(a)[i])(x, 2)]
jax.debug.print("printed {{}}", x.sum())
jax.effects_barrier()
print(json.dumps([round(float(value), 3) for value in found]))
'''

CASES = {
    "a plain program": "",
    "with 64 bits": 'jax.config.update("jax_enable_x64", True)',
    "JAX's warning of a type that it cuts": 'jnp.zeros(3, "float64")',
    "JAX's warning of a donation": 'jax.jit(lambda a: a.sum(), donate_argnums=0)(jnp.ones((3, 3)))',
    "JAX's warning of a GPU without its plugin":
        "from jax._src import hardware_utils; hardware_utils.has_visible_nvidia_gpu = lambda: True",
    "a log of JAX's": "import logging; logging.getLogger('jax._src.xla_bridge').warning("
                      "'Platform other is experimental')",
    "compiles that JAX logs": 'jax.config.update("jax_log_compiles", True)',
    "another thread's error": "import threading; t = threading.Thread(target=lambda: 1 / 0); "
                              "t.start(); t.join()",
    "a callback that fails": '''
try:
    def fail(a):
        raise ValueError("not today")
    jax.block_until_ready(jax.pure_callback(fail, jax.ShapeDtypeStruct((), "float32"), jnp.ones(())))
except Exception as error:
    print(type(error).__name__, "not today" in str(error))''',
    "a profile": '''
import tempfile
with tempfile.TemporaryDirectory() as folder, jax.profiler.trace(folder):
    jnp.ones(3) + 1''',
}


def without_times(text):
    """Less what is another in each run: times, and addresses in what JAX logs."""
    text = re.sub(r"\d+\.\d+(e-?\d+)? sec|\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+|0x[0-9a-f]+", "*", text)
    return re.sub(r"\d+\.\d+", "*", text)


def lines_of(answer):
    return without_times(answer.err).splitlines()


def check(space, title, before):
    program = space.path(title.replace(" ", "_").replace("'", "") + ".py")
    program.write_text(PROGRAM.format(before=before))
    command = [PYTHON, program]
    bare = start(command, clean_environment())
    environment = clean_environment() | {
        "KEEL_CONFIG": os.devnull, "KEEL_CACHE_DIR": str(space.path("cache")),
        "KEEL_RUN_DIR": str(space.runs)}
    answers = [run([KEEL, "run", "--quiet", "--", *command], environment) for _ in range(2)]
    bare = finish(bare)
    for answer, how in zip(answers, ("cold", "warm")):
        report.check(f"{title}, {how}: the same numbers", last_json(answer) is not None and
                     last_json(answer) == last_json(bare), f"{told(bare)}\n{told(answer)}")
        report.equal(f"{title}, {how}: the same words", lines_of(answer), lines_of(bare))


def main():
    with Workspace("quiet") as space:
        for title, before in CASES.items():
            check(space, title, before)
    report.finish()


if __name__ == "__main__":
    main()
