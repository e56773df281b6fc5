"""JAX compiles ahead of time for a topology inside a rehearsal (PJRT_Compile): for that of the target
and for another one, with and without other compiles; what came out is stored and loaded again.

Usage: ahead.py TARGET TOPOLOGY...
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "client"))

from harness import KEEL, Report, Workspace, clean_environment, run, told  # noqa: E402

PYTHON = os.environ["KEEL_TARGETS_PYTHON"]
TARGET, TOPOLOGIES = sys.argv[1], sys.argv[2:]
SCRIPT = '''
import sys, jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.experimental.serialize_executable import serialize
from jax.sharding import NamedSharding, PartitionSpec as P
topology = topologies.get_topology_desc(platform=sys.argv[1], topology_name=sys.argv[2])
mesh = topologies.make_mesh(topology, (len(topology.devices),), ("x",))
step = jax.jit(lambda x, w: (jnp.tanh(x @ w).sum(), x @ w), in_shardings=(NamedSharding(mesh, P("x")), NamedSharding(mesh, P())))
compiled = step.lower(jax.ShapeDtypeStruct((64, 128), jnp.float32), jax.ShapeDtypeStruct((128, 128), jnp.float32)).compile()
memory = compiled.memory_analysis()
print(len(topology.devices), memory.argument_size_in_bytes > 0, str(compiled.output_shardings[1].spec).removeprefix("PartitionSpec").removeprefix("P"), len(serialize(compiled)[0]) > 1000)
try:
    jax.jit(lambda x: jax.ffi.ffi_call("no_such_target", x)(x)).lower(jax.ShapeDtypeStruct((8,), jnp.float32, sharding=NamedSharding(mesh, P()))).compile()
except Exception as error:
    print("refused")
'''

report = Report()


def check(space, topology, options):
    environment = clean_environment() | {
        "KEEL_CACHE_DIR": str(space.path("cache")), "KEEL_RUN_DIR": str(space.path("runs")),
        "KEEL_CONFIG": os.devnull}
    script = space.path("ahead.py")
    script.write_text(SCRIPT)
    command = [KEEL, "rehearse", "--on", TARGET, *options, "--", PYTHON, script, "tpu", topology]
    name = f"{topology} {' '.join(options)}".strip()
    for words in ("; 1 compile ", "; nothing compiled, 1 load "):
        answer = run(command, environment)
        report.equal(f"{name}: it compiles, and what comes out is known", answer.out.split("\n")[0],
                     f"{device_count(topology)} True ('x',) True")
        report.check(f"{name}: what the compiler refuses is refused", "refused" in answer.out,
                     told(answer))
        report.check(f"{name}: {words.strip('; ')}", words in answer.err, told(answer))


def device_count(topology):
    rows, columns = topology.split(":")[1].split("x")
    return int(rows) * int(columns)


for topology in TOPOLOGIES:
    for options in ([], ["--compile", "none"]):
        with Workspace("ahead") as space:
            check(space, topology, options)
report.finish()
