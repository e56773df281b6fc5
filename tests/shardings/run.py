"""How compilers shard what programs do not: generated and special results, on the embedded compiler
or on a target's, against JAX's own view of them.

Usage: run.py TARGET MESHES ARRAYS [WITHOUT...]
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import KEEL, Report, Workspace, clean_environment, run, told, whole_json  # noqa: E402

TARGET, MESHES, ARRAYS, WITHOUT = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
PYTHON = os.environ.get("KEEL_TARGETS_PYTHON", sys.executable)

# 32 MiB on each of 8 devices. Nothing says how the second array is sharded.
HELD = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
parts = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))
x = jax.jit(lambda: jnp.ones((8192, 8192)), out_shardings=parts)()
y = jax.jit(lambda x: x * 2)(x)
z = jax.jit(lambda y: y + 1, in_shardings=parts, out_shardings=parts)(y)
"""

report = Report()


def check(space):
    environment = clean_environment() | {
        "KEEL_CACHE_DIR": str(space.path("cache")), "KEEL_RUN_DIR": str(space.path("runs")),
        "KEEL_CONFIG": os.devnull}
    bare = environment | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}

    def rehearse(*words, compiles="new"):
        return run([KEEL, "rehearse", "--on", TARGET, "--compile", compiles, "--", PYTHON, *words], environment,
                   cwd=space.folder)

    def rehearsal():
        return whole_json(run([KEEL, "stats", "--json"], environment))["rehearsal"]

    def guesses():
        return rehearsal()["guesses"]

    count = int(MESHES) * int(ARRAYS)
    words = f"{count} of {count} results are as JAX sees them\n"
    script = str(HERE / "generated.py")
    answer = run([PYTHON, script, "2", ARRAYS], bare)
    report.check("devices that are there have what the test says", answer.out ==
                 f"{2 * int(ARRAYS)} of {2 * int(ARRAYS)} results are as JAX sees them\n", told(answer))
    # Before anything is compiled, so that nothing is in the cache.
    answer = rehearse(script, MESHES, ARRAYS, *WITHOUT, compiles="none")
    report.check(f"{TARGET}: {count} generated results without a compile", (answer.code, answer.out) == (0, words),
                 told(answer))
    asked = rehearsal()
    report.equal(f"{TARGET}: none is compiled or guessed", (asked["compiled"], asked["guesses"]), (0, []))
    report.check(f"{TARGET}: the compiler says how it shards them", asked["partitioned"] > 0, asked)
    again = rehearse(script, MESHES, ARRAYS, *WITHOUT, compiles="none")
    asked = rehearsal()
    report.equal(f"{TARGET}: what it said is kept", (again.out, asked["compiled"], asked["partitioned"]), (words, 0, 0))
    answer = rehearse(script, MESHES, ARRAYS, *WITHOUT)
    report.check(f"{TARGET}: {count} generated results", (answer.code, answer.out) == (0, words), told(answer))
    report.equal(f"{TARGET}: none is a guess", guesses(), [])
    script = str(HERE / "special.py")
    lines = run([PYTHON, script], bare).out.splitlines()
    for compiles in ("none", "new"):
        answer = rehearse(script, compiles=compiles)
        report.equal(f"{TARGET}: results of other kinds, --compile {compiles}", (answer.code, answer.out.splitlines()),
                     (0, lines))
    report.equal(f"{TARGET}: of these, too, none is a guess", guesses(), [])
    space.path("held.py").write_text(HELD)
    answer = rehearse("held.py")
    memory = rehearsal()["memory"]
    report.check(f"{TARGET}: memory counts parts", answer.code == 0 and
                 96 <= memory["most"] >> 20 < 104, told(answer) + str(memory))


with Workspace("shardings") as space:
    check(space)
report.finish()
