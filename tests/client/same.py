"""A program behaves under `keel run` as without it, whatever plugins its Python has and whatever it is
told about platforms: the same output, the same words, the same exit code.

The Python is KEEL_SAME_PYTHON, by default the project's own. With that of .venv-targets, JAX has the
packages of GPUs and TPUs, on a machine that has none.
"""

import os
import re

import harness
from harness import (KEEL, PLUGIN, Report, Workspace, clean_environment, finish, of_kind,
                     other_plugins, run, start)

PYTHON = os.environ.get("KEEL_SAME_PYTHON") or harness.PYTHON
report = Report()

SHOW = '''
import jax, jax.numpy as jnp
def attempt(ask):
    try:
        return ask()
    except Exception as error:
        return type(error).__name__, str(error)
from jax._src import xla_bridge
for ask in (lambda: jax.devices(), lambda: [str(d) for d in jax.devices()], jax.default_backend,
            lambda: sorted(xla_bridge.backends()), lambda: jax.config.jax_platforms,
            lambda: (jax.device_count(), jax.process_count(), jax.process_index()),
            lambda: jax.jit(lambda x: (x * 3 + 1).sum())(jnp.ones(5)),
            *(lambda name=name: [str(d) for d in jax.devices(name)]
              for name in ("cpu", "gpu", "cuda", "rocm", "tpu", "acme", "listed", "nonsense"))):
    print(attempt(ask))
'''

# Environment variables of the program. None: the variable is not set.
PLATFORMS = [None, "", "cpu", "cuda", "gpu", "rocm", "tpu", "cuda,cpu", "tpu,cpu", "cpu,cuda", "cpu,tpu",
             "nonsense", "nonsense,cpu", "cpu,nonsense", "acme", "acme,cpu", "cpu,acme", "listed,acme"]

PACKAGE = '''
def initialize():
    from jax._src import xla_bridge
    xla_bridge.register_plugin({name!r}, priority={priority}, library_path={library!r})
'''

PROGRAMS = {
    "an error": "import jax.numpy as jnp; jnp.ones(3) @ jnp.ones(4)",
    "an exit code": "import sys, jax; jax.devices(); sys.exit(7)",
    "a missing platform": "import jax; jax.config.update('jax_platforms', 'absent'); jax.devices()",
    "the CPU by the script": "import jax; jax.config.update('jax_platforms', 'cpu'); print(jax.devices())",
    "the CPU by its old name": "import jax; jax.config.update('jax_platform_name', 'cpu'); "
                               "print(jax.devices(), jax.numpy.ones(3).devices())",
    "no JAX": "print('no JAX')",
    # Arrays of the CPU and of the default device, which is the CPU.
    "the CPU beside the default device": '''
import jax, jax.numpy as jnp
cpu = jax.devices("cpu")[0]
x, y = jax.device_put(jnp.ones(3), cpu), jax.device_put(jnp.ones(3), jax.devices()[0])
print(cpu == jax.devices()[0], jax.jit(lambda a, b: a + b)(x, y))
with jax.default_device(cpu):
    print(jnp.arange(3.0) + y, y.device, repr(y.sharding))
print(jax.local_devices(backend="cpu"), jax.jit(lambda a: a * 2, backend="cpu")(y).devices())
''',
    "several devices": '''
import jax, jax.numpy as jnp
jax.config.update("jax_num_cpu_devices", 3)
mesh = jax.make_mesh((3,), ("x",))
x = jax.device_put(jnp.arange(6.0), jax.NamedSharding(mesh, jax.P("x")))
print(x.sharding, [str(shard.device) for shard in x.addressable_shards], x.sum())
print(jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P())(x))
''',
    "memories": '''
import jax, jax.numpy as jnp, numpy as np
d, x = jax.devices()[0], jnp.arange(8.0)
print([m.kind for m in d.addressable_memories()], d.default_memory().kind, d.memory_stats())
print(d.id, d.process_index, d.local_hardware_id, d.client.platform, x.sharding, x.format)
for kind in ("device", "pinned_host", "unpinned_host"):
    try:
        print(jax.device_put(x, jax.sharding.SingleDeviceSharding(d, memory_kind=kind)).sharding)
    except Exception as error:
        print(type(error), error)
''',
    "arrays of NumPy's": '''
import jax, jax.numpy as jnp, numpy as np
x, a = jnp.arange(8.0), np.arange(8, dtype=np.float32)
view = np.asarray(x)
print(view, view.flags.writeable, x.__dlpack_device__(), np.from_dlpack(x))
print(jnp.from_dlpack(a).devices(), jax.dlpack.from_dlpack(a), jnp.asarray(a))
''',
    "a program that is exported and one that is kept": '''
import jax, jax.numpy as jnp
from jax import export
from jax.experimental import serialize_executable
made = export.export(jax.jit(lambda x: jnp.sin(x) @ x))(jnp.ones((4, 4)))
print(made.platforms, export.deserialize(made.serialize()).call(jnp.ones((4, 4))))
compiled = jax.jit(lambda x: x * 2).lower(jnp.ones(4)).compile()
print(serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))(jnp.ones(4)))
print(compiled.memory_analysis())
''',
    "clients that are made again": '''
import jax, jax.numpy as jnp
from jax.extend import backend
print(jnp.ones(3) + 1)
backend.clear_backends()
print(jnp.ones(3) + 2, jax.devices("cpu"))
''',
    "a process pool": '''
import concurrent.futures, multiprocessing
def work(n):
    import jax.numpy as jnp
    return float(jnp.ones(n).sum())
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        print(list(pool.map(work, [1, 2, 3])))
''',
    "environment": '''
import os, jax
before = {name: value for name, value in os.environ.items() if name.startswith(("JAX", "PJRT", "TPU", "XLA"))}
jax.devices()
print(sorted(before.items()), sorted(name for name in set(os.environ) - set(before) if "PJRT" in name))
''',
}

# Two processes that train together: Keel's CPU plugin cannot, so JAX's own client stays.
TOGETHER = '''
import subprocess, sys
if len(sys.argv) == 2:
    both = [subprocess.Popen([sys.executable, __file__, sys.argv[1], str(i)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True) for i in (0, 1)]
    for process in both:
        out, err = process.communicate()
        print(process.returncode, out)
        print(err, file=sys.stderr)
    sys.exit()
import jax, jax.numpy as jnp
from jax.experimental import multihost_utils
jax.distributed.initialize(f"localhost:{sys.argv[1]}", 2, int(sys.argv[2]))
print(jax.process_index(), jax.process_count(), jax.devices(), jax.local_devices())
print(multihost_utils.process_allgather(jnp.float32(jax.process_index())))
'''


def free_port():
    import socket
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


def constant(text):
    """Less times and process numbers in what XLA logs, and addresses."""
    text = re.sub(r"^([IWEF])\d{4,} [\d:.]+ +\d+ ", r"\1 ", text, flags=re.M)
    text = re.sub(r"0x[0-9a-f]+|(?<=localhost:)\d+", "*", text)
    return [line.rstrip() for line in text.splitlines()]


class Place:
    """A Python with plugins of its own."""

    def __init__(self, space, name, packages=(), entry_point=None):
        self.folder = space.path(name)
        self.folder.mkdir()
        for plugin, (library, priority) in dict(packages).items():
            package = self.folder / "jax_plugins" / plugin
            package.mkdir(parents=True)
            (package / "__init__.py").write_text(
                PACKAGE.format(name=plugin, priority=priority, library=str(library)))
        if entry_point:
            plugin, library = entry_point
            (self.folder / "acme_plugin.py").write_text(
                PACKAGE.format(name=plugin, priority=400, library=str(library)))
            info = self.folder / "acme_plugin-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-plugin\nVersion: 1.0\n")
            (info / "entry_points.txt").write_text("[jax_plugins]\nacme = acme_plugin\n")

    def same(self, title, program, words=(), words_of_keel=(), recorded=None, **environment):
        """`words_of_keel`: the lines that Keel may say, and does."""
        script = self.folder / (re.sub(r"\W+", "_", title) + ".py")
        script.write_text(program)
        plain = {name: value for name, value in environment.items() if value is not None}
        # Both run at once, and libtpu refuses a second process that looks for a TPU.
        plain = clean_environment() | {"PYTHONPATH": str(self.folder),
                                       "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"} | plain
        command = [PYTHON, script]
        bare = start([*command, *(word() for word in words)], plain)
        runs = self.folder / "runs" / script.stem
        behind = run([KEEL, "run", "--quiet", "--", *command, *(word() for word in words)], plain | {
            "KEEL_CONFIG": os.devnull, "KEEL_CACHE_DIR": str(self.folder / "cache"),
            "KEEL_RUN_DIR": str(runs)})
        bare = finish(bare)
        said = constant(behind.err)
        ours = [line for line in said if line.startswith("keel: ")]
        report.equal(f"{title}: exit code", behind.code, bare.code)
        report.equal(f"{title}: stdout", constant(behind.out), constant(bare.out))
        # Processes of a pool mix their lines.
        report.equal(f"{title}: stderr", sorted(line for line in said if line not in ours), sorted(constant(bare.err)))
        report.check(f"{title}: what Keel says", len(ours) == len(words_of_keel) and all(
            word in line for word, line in zip(words_of_keel, ours)), ours)
        if recorded is not None:
            report.equal(f"{title}: recorded", any(runs.glob("20*/journal.ndjson")), recorded)


def check_programs(space):
    place = Place(space, "programs")
    for title, program in PROGRAMS.items():
        place.same(title, program)
    place.same("two processes", TOGETHER, [lambda: str(free_port())],
               ["keel: cpu: JAX's own client runs without Keel, because the embedded CPU plugin does "
                "not work across processes"] * 2)


def check_platforms(space):
    place = Place(space, "platforms")
    for platforms in PLATFORMS:
        if not platforms or "acme" not in platforms and "listed" not in platforms:
            place.same(f"platforms {platforms!r}", SHOW, JAX_PLATFORMS=platforms,
                       recorded=None if platforms else True)
    place.same("an absent library", SHOW, PJRT_NAMES_AND_LIBRARY_PATHS="listed:/absent/plugin.so")
    place.same("an absent TPU library", SHOW, TPU_LIBRARY_PATH="/absent/libtpu.so")
    place.same("an absent TPU library, by name", SHOW, TPU_LIBRARY_PATH="/absent/libtpu.so",
               JAX_PLATFORMS="tpu,cpu")


def check_plugins(space):
    """Plugins of the user's own: a package, an entry point, a listed one."""
    other = os.path.realpath((other_plugins() or [(None, PLUGIN)])[0][1])
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3"}  # a plugin's own log has times that no pattern knows
    package = Place(space, "package", {"acme": (PLUGIN, 500)})
    point = Place(space, "point", entry_point=("acme", PLUGIN))
    for platforms in (None, "acme", "acme,cpu", "cpu,acme", "cpu"):
        left = {"cpu,acme": [f"keel: acme: {PLUGIN} runs without Keel"]}.get(platforms, ())
        package.same(f"a package, platforms {platforms!r}", SHOW, JAX_PLATFORMS=platforms,
                     words_of_keel=left, recorded=True, **quiet)
        point.same(f"an entry point, platforms {platforms!r}", SHOW, JAX_PLATFORMS=platforms,
                   words_of_keel=left, recorded=True, **quiet)
    for platforms, left in ((None, other), ("listed", None), ("listed,acme", PLUGIN),
                            ("acme,listed", other)):
        said = [f": {left} runs without Keel"] if left else []
        package.same(f"a package and a listed plugin, platforms {platforms!r}", SHOW,
                     JAX_PLATFORMS=platforms, PJRT_NAMES_AND_LIBRARY_PATHS=f"listed:{other}",
                     words_of_keel=said, recorded=True, **quiet)


def main():
    with Workspace("same") as space:
        check_programs(space)
        check_platforms(space)
        check_plugins(space)
    report.finish()


if __name__ == "__main__":
    main()
