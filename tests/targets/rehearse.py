"""A training is rehearsed on GPUs and TPUs that are not there, with real JAX and the real compilers.

Usage: rehearse.py cuda|tpu
"""

import json
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import BUILD, KEEL, Report, Workspace, clean_environment, journal, of_kind, run, told, whole_json  # noqa: E402

PYTHON = os.environ["KEEL_TARGETS_PYTHON"]
TARGET = {"cuda": "h200:8", "tpu": "v6e:2x4"}[sys.argv[1]]
KIND = {"cuda": "NVIDIA H200", "tpu": "TPU v6 lite"}[sys.argv[1]]

# The state is donated, and the last batch is short.
TRAIN = """
import jax, jax.numpy as jnp, numpy as np
print(jax.devices()[0].device_kind, jax.device_count(), jax.default_backend())
def step(state, batch):
    return jnp.tanh(state @ state) + (batch * 2).sum(), state.mean()
step = jax.jit(step, donate_argnums=0)
state = jax.device_put(np.ones((1024, 1024), np.float32))
for index in range(6):
    state, loss = step(state, np.full(8 if index < 5 else 3, index, np.float32))
print(float(loss))
"""

# All devices have a part, and only the compiler knows how the result is sharded.
SHARDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
mesh = jax.make_mesh((8,), ("data",))
rows = jax.device_put(np.ones((64, 128), np.float32), NamedSharding(mesh, PartitionSpec("data")))
print(jax.jit(lambda rows: jnp.sin(rows) * 2)(rows).sharding.spec)
"""

# Elements of half a byte. JAX compares the layouts of arrays with those of the program that gets them.
HALVES = """
import jax, jax.numpy as jnp, numpy as np
x = jax.device_put(np.ones((8, 128), jnp.int4))
add = jax.jit(lambda x: x + x)
told = jax.tree.leaves(add.lower(x).compile().input_formats)[0]
print(add(add(x)).astype("int32").sum(), told.layout == x.format.layout)
"""

# As on the VM of a TPU, where JAX finds out by itself that it is alone.
ALONE = """
import jax
jax.distributed.initialize()
print(jax.process_count(), len(jax.devices()), jax.devices()[0].memory_stats()["bytes_limit"] >> 30)
"""

# The processor is there. A loader or an initializer may compute on it, in a process of its own too.
PROCESSOR = """
import os, jax, jax.numpy as jnp
if "JAX_COORDINATOR_ADDRESS" in os.environ:
    jax.distributed.initialize()
cpu = jax.local_devices(backend="cpu")[0]
with jax.default_device(cpu):
    print(abs(jnp.linalg.qr(jnp.eye(3) * 2)[1].trace()), cpu.platform, jax.local_devices()[0].platform)
"""

# Functions that a program calls by name: jaxlib's for the platform, a host callback, and its own.
CALLS = """
import ctypes, jax, jax.numpy as jnp
own = ctypes.CDLL("./own.so").own_function
jax.ffi.register_ffi_target("own", jax.ffi.pycapsule(own), platform="CUDA")
a = jnp.ones((8, 8))
for shift in range(2):
    jax.jit(lambda a: jnp.linalg.eigh(a + shift)[0] + jnp.linalg.qr(a)[0][0])(a)
    jax.jit(lambda a: jax.ffi.ffi_call("own", a)(a + shift))(a)
jax.jit(lambda a: jax.debug.print("{}", a))(a)
"""

report = Report()


class Stage:
    def __init__(self, space, name):
        self.folder = space.path(name)
        self.folder.mkdir()
        self.environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(self.folder / "cache"), "KEEL_RUN_DIR": str(self.folder / "runs"),
            "KEEL_CONFIG": os.devnull}

    def keel(self, *words):
        return run([KEEL, *words], self.environment, cwd=self.folder)

    def rehearse(self, text, *options):
        (self.folder / "train.py").write_text(text)
        return self.keel("rehearse", "--on", TARGET, *options, "--", PYTHON, "train.py")

    def answer(self, *words):
        return whole_json(self.keel(*words, "--json"))


def check_training(space, compiles):
    stage = Stage(space, f"train-{compiles}")
    answer = stage.rehearse(TRAIN, "--compile", compiles)
    backend = {"cuda": "gpu", "tpu": "tpu"}[sys.argv[1]]
    report.equal(f"--compile {compiles}: the script sees the target and ends",
                 (answer.code, answer.out), (0, f"{KIND} 8 {backend}\n0.0\n"))
    report.check("the summary names it, and no plugin", f"keel: rehearsed on {TARGET}: 6 steps, " in answer.err
                 and "in front of" not in answer.err, told(answer))
    report.equal("the recompile is explained",
                 [(cause["kind"], cause["subject"], cause["old"], cause["new"], cause["line"])
                  for cause in stage.answer("why")], [("shape", "batch", "f32[8]", "f32[3]", 9)])
    report.equal("whether it fits is known if it was compiled", stage.answer("memory")["rehearsal"]["fits"],
                 None if compiles == "none" else True)
    return stage


def check_again(stage):
    answer = stage.rehearse(TRAIN)
    report.check("what is in the cache is not compiled again", answer.code == 0
                 and "nothing compiled, " in answer.err, told(answer))
    run_id = stage.answer("stats")["id"]
    answer = stage.keel("aot", "--on", TARGET, run_id)
    report.check("nor by keel aot", answer.code == 0 and "0 of " in answer.err, told(answer))


def check_sharded(space):
    stage = Stage(space, "sharded")
    answer = stage.rehearse(SHARDED, "--compile", "none")
    report.equal("the compiler says how a result is sharded, whatever --compile says",
                 (answer.code, answer.out), (0, "P('data', None)\n"))
    report.equal("so nothing is guessed", stage.answer("stats")["rehearsal"]["guesses"], [])


def check_halves(space):
    for compiles in ("none", "new"):
        answer = Stage(space, f"halves-{compiles}").rehearse(HALVES, "--compile", compiles)
        report.equal(f"elements of half a byte lie as the compiler has them, --compile {compiles}",
                     (answer.code, answer.out), (0, "4096 True\n"))


def check_alone(space):
    for target, devices in (("v6e:2x4", 8), ("v6e:1x1", 1)):
        stage = Stage(space, f"alone-{devices}")
        (stage.folder / "alone.py").write_text(ALONE)
        answer = stage.keel("rehearse", "--on", target, "--", PYTHON, "alone.py")
        report.equal(f"{target}: one process needs no other, and knows its memory", (answer.code, answer.out),
                     (0, f"1 {devices} 31\n"))


def check_processor(space):
    backend = {"cuda": "gpu", "tpu": "tpu"}[sys.argv[1]]
    for target in (TARGET, {"cuda": "h200:16", "tpu": "v6e:4x4"}[sys.argv[1]]):
        stage = Stage(space, f"processor-{target.replace(':', '-')}")
        (stage.folder / "processor.py").write_text(PROCESSOR)
        answer = stage.keel("rehearse", "--on", target, "--", PYTHON, "processor.py")
        processes = [line.partition("] ")[2] or line for line in answer.out.splitlines()]
        report.equal(f"{target}: what a script computes on the processor is computed", (answer.code, set(processes)),
                     (0, {f"6.0 cpu {backend}"}))
        report.check(f"{target}: and no process finds that worth a line", "without Keel" not in answer.err, told(answer))
        report.equal(f"{target}: it is not the target's", stage.answer("stats")["programs"], 0)


def check_description(space):
    """What a real machine says of itself is in the keys of what is compiled for it."""
    stage = Stage(space, "described")
    (stage.folder / "train.py").write_text(TRAIN)
    target = json.loads(stage.keel("rehearse", "--describe", TARGET).out)
    target |= {"platform_version": "version 7", "build": "00ff"}
    (stage.folder / "there.json").write_text(json.dumps(target))
    answer = stage.keel("rehearse", "--on", "there.json", "--", PYTHON, "train.py")
    report.check("another build of the plugin is named", answer.code == 0
                 and f"keel: {TARGET} has a different build of the plugin (00ff) than " in answer.err,
                 told(answer))
    platforms = {entry["components"]["platform"]["value"] for entry in stage.answer("cache", "ls")}
    report.check("the plugin's version is the machine's", len(platforms) == 1
                 and 'version="version 7"' in platforms.pop(), platforms)


def check_share(space):
    """JAX's setting of how much of a GPU its allocator takes."""
    stage = Stage(space, "share")
    stage.environment["XLA_CLIENT_MEM_FRACTION"] = "0.5"
    answer = stage.rehearse(TRAIN)
    limits = {device["limit"] for device in stage.answer("memory")["devices"]}
    report.equal("the limit is the share of the memory that the client asks for", limits,
                 {stage.answer("stats")["rehearsal"]["target"]["memory"] // 2})
    ahead = stage.keel("aot", "--on", TARGET, "latest")
    report.check("also for keel aot", answer.code == 0 and "keel: 0 of " in ahead.err, told(ahead))


def check_calls(space):
    """A recorded program compiles with the functions that it calls, if they are what they were."""
    stage = Stage(space, "calls")
    stage.environment["KEEL_CUSTOM_CALLS"] = "own"
    library = stage.folder / "own.so"
    shutil.copy(BUILD / "samples" / "libown_function.so", library)
    recorded = stage.rehearse(CALLS, "--compile", "none")
    report.check("programs that call functions are recorded", recorded.code == 0
                 and "nothing compiled" in recorded.err, told(recorded))
    run_id = stage.answer("stats")["id"]
    events = journal(stage.folder / "runs", run_id)
    calls = [event["name"] for event in of_kind(events, "handler") if event["kind"] == "call"]
    report.equal("each function is written once", sorted(calls),
                 ["cusolver_geqrf_ffi", "cusolver_orgqr_ffi", "cusolver_syevd_ffi", "own",
                  "xla_ffi_python_gpu_callback"])
    answer = stage.keel("aot", "--on", TARGET, run_id)
    report.check("keel aot compiles what calls them", answer.code == 0
                 and "failed" not in answer.out and ", 0 in the cache" in answer.err, told(answer))
    answer = stage.rehearse(CALLS)
    report.check("and they are loaded", answer.code == 0 and "nothing compiled, " in answer.err,
                 told(answer))
    states = {program["state"] for program in stage.answer("replay", run_id)["programs"]}
    report.equal("keel replay compiles them too", states, {"compiled"})
    with library.open("ab") as out:
        out.write(b"another build")
    for trouble in ("has changed since the run", "is gone"):
        answer = stage.keel("aot", "--on", TARGET, "--all", run_id)
        report.check(f"a library that {trouble} is named", answer.code == 1
                     and f"keel: {library} {trouble}, so programs that call own do not" in answer.err,
                     told(answer))
        report.equal("what calls it does not compile, and the rest does",
                     {line.rsplit(" failed: ")[1].split(" on ")[0]
                      for line in answer.out.splitlines() if " failed: " in line},
                     {"No FFI handler registered for own"})
        library.unlink(missing_ok=True)
    packed = stage.keel("pack", run_id, "-o", "run.pack")
    answer = stage.keel("aot", "--on", TARGET, "--all", "--python", PYTHON, "run.pack")
    report.check("a pack's libraries are not used", packed.code == 0 and answer.code == 1
                 and "registered for cusolver_syevd_ffi" in answer.out
                 and str(library) not in answer.err, told(packed) + told(answer))


with Workspace("rehearse") as space:
    check_training(space, "none")
    check_again(check_training(space, "new"))
    check_sharded(space)
    check_processor(space)
    if TARGET == "v6e:2x4":
        check_alone(space)
        check_halves(space)
    check_description(space)
    if TARGET == "h200:8":
        check_share(space)
        check_calls(space)
report.finish()
