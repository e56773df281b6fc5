"""Programs for GPUs and TPUs compile here, in children of a process that has no such device; so do
those for the processor.

Usage: compile.py cuda|tpu|cpu
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import Report  # noqa: E402

PLATFORM = sys.argv[1]
BUILD = pathlib.Path(os.environ["KEEL_TEST_BUILD"]) / "bin"
PYTHON = os.environ["KEEL_TARGETS_PYTHON"]
SITE = next(pathlib.Path(PYTHON).parent.parent.glob("lib/python3.*/site-packages"))
PLUGIN = {"cuda": SITE / "jax_plugins/xla_cuda12/xla_cuda_plugin.so", "tpu": SITE / "libtpu/libtpu.so",
          "cpu": os.environ.get("KEEL_TEST_CPU_PLUGIN")}[PLATFORM]
TARGET = {"cuda": "h200:8", "tpu": "v6e:2x4", "cpu": "cpu:2"}[PLATFORM]
# A toolkit of the machine's own is not the one that belongs to the plugin.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not re.match("CUDA|TPU_|XLA_|LIBTPU|JAX_|KEEL_(?!TEST)", name)} | {
                   "TF_CPP_MIN_LOG_LEVEL": "3"}

report = Report()
space = pathlib.Path(tempfile.mkdtemp(prefix="keel-targets-"))


def lower(*names):
    folder = space / "programs"
    subprocess.run([PYTHON, HERE / "lower.py", PLATFORM, folder, *names], check=True,
                   env=ENVIRONMENT | {"PYTHONPATH": str(HERE.parent.parent / "python")})
    return folder


def run(target, workers, programs, handlers=True, options=None, plugin=PLUGIN, prefix=()):
    """What compile_programs prints, by the name of the program; and whether all compiled."""
    pairs = [word for name in programs
             for word in (FOLDER / f"{name}.mlir", options or FOLDER / f"{name}.opts")]
    more = {"HANDLERS": str(FOLDER / "handlers"), "PYTHON": PYTHON} if handlers else {}
    done = subprocess.run([*prefix, BUILD / "compile_programs", target, plugin, str(workers), "-", *pairs],
                          env=ENVIRONMENT | more, capture_output=True, text=True, timeout=1500)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    if done.stderr:
        print(done.stderr, file=sys.stderr)
    return {pathlib.Path(one["program"]).stem: one for one in told}


def digests(told):
    return {name: one["executable"]["digest"] for name, one in told.items() if not one["error"]}


def says(name, one, *words):
    error = (one or {}).get("error") or "no error"
    report.check(name, all(word in error for word in words), error[:300])


def describe(target):
    done = subprocess.run([BUILD / "describe_target", target, PLUGIN], env=ENVIRONMENT,
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def edited(target, edit):
    """The path of a description that is a built-in one with a change."""
    description = describe(target)["target"]
    edit(description)
    path = space / "edited.json"
    path.write_text(json.dumps(description))
    return path


def check_models(targets):
    for target in targets:
        said = describe(target)
        if not report.check(f"{target} has a topology", isinstance(said, dict), said):
            continue
        known = said["target"]
        for field in ("devices", "processes", "device_kind", "platform"):
            wanted = known[field]
            report.equal(f"{target}: {field}", said[field], wanted)


def check_saved_topology():
    """A topology that was serialized, as by `keel probe` on a machine with the device."""
    def save(description):
        description["topology"] = {"serialized": describe(TARGET)["serialized"]}
    path = edited(TARGET, save)
    report.equal("a serialized topology gives the same executables",
                 digests(run(path, 1, ["matmul", "sharded"])),
                 digests(run(TARGET, 1, ["matmul", "sharded"])))


def check_cuda():
    names = ["matmul", "softmax", "random", "scan", "sharded", "pallas"]
    linalg = ["eigh", "cholesky", "qr", "solve", "svd", "eig"]
    check_models(["a100", "h100:8", "h200:8", "h200:16", "h200:16/4", "b200:2"])
    two = run(TARGET, 2, names + linalg)
    report.equal("all programs compile", [name for name, one in two.items() if one["error"]], [])
    report.equal("their bytes are the same in another order and another number of children",
                 digests(run(TARGET, 1, (names + linalg)[::-1])), digests(two))
    report.equal("and in a process that calls the compiler itself",
                 digests(run(TARGET, "here", names, handlers=False)),
                 {name: digests(two)[name] for name in names})
    other = run("a100", 2, ["matmul"])
    report.check("another GPU has other code", digests(other) != {"matmul": digests(two)["matmul"]})
    alone = run(TARGET, 1, ["eigh", "matmul"], handlers=False)
    says("without the client's functions, the one that is missing is named", alone["eigh"],
         "cusolver_syevd_ffi")
    report.equal("and other programs compile", alone["matmul"]["error"], None)

    def spoil(description):
        description["topology"]["options"]["target_config"] += "nonsense: 1"
    says("a description that the plugin does not understand", run(edited(TARGET, spoil), 1, ["matmul"])["matmul"],
         "target h200:8", "GpuTargetConfigProto")
    check_missing_toolkit()
    full = run(TARGET, 1, ["matmul"], prefix=("prlimit", "--fsize=0"))
    report.equal("a full disk does not matter", digests(full), {"matmul": digests(two)["matmul"]})


def check_missing_toolkit():
    """A plugin without its packages, on a machine that has no toolkit in a usual place either."""
    lone = space / "lone" / "xla_cuda_plugin.so"
    lone.parent.mkdir()
    shutil.copyfile(PLUGIN, lone)
    plain = HERE.parent / "samples" / "opts" / "jax_spmd_4.opts"  # JAX's own name their folder
    one = run(TARGET, 1, ["softmax"], options=plain, plugin=lone)["softmax"]
    if one["error"]:
        says("what is missing is named", one, "install nvidia-")
        report.equal("in a line of its own", "install" in one["error"].splitlines()[0], True)
    else:
        report.skip("a plugin without its packages",
                    "it found CUDA's toolkit: run it on a machine without one")


def check_tpu():
    names = ["matmul", "softmax", "random", "scan", "sharded", "pallas", "qr", "solve"]
    check_models(["v2:2x2", "v3:4x4", "v4:2x2x2", "v5e:2x4", "v5e:2x4/2", "v5e:4x4", "v5p:2x2x2",
                  "v6e:1x1", "v6e:2x4", "v6e:2x4/2", "v6e:4x4", "tpu7x:2x2x1"])
    two = run(TARGET, 2, names + ["huge"])
    says("a program that does not fit gets the compiler's own words", two.pop("huge"), "E1000",
         "exceeds available HBM", "See https://openxla.org/xla/errors/error_1000")
    report.equal("all others compile", [name for name, one in two.items() if one["error"]], [])
    one = run(TARGET, 1, names[::-1])
    report.equal("their fingerprints are the same in another order and number of children",
                 {name: it["fingerprint"] for name, it in one.items()},
                 {name: it["fingerprint"] for name, it in two.items()})
    report.check("what they need in memory is known",
                 all(it["memory"]["arguments"] for it in two.values()))
    here = run(TARGET, "here", ["matmul"], handlers=False)
    report.equal("the first one of a process has the bytes of the compiler itself",
                 digests(run(TARGET, 1, ["matmul"])), digests(here))
    # Options of a program with other results: libtpu ends its process.
    for suffix in ("mlir", "opts"):
        sample = {"mlir": "mlir/shard_map.v1_20.mlir", "opts": "opts/jax_spmd_4.opts"}[suffix]
        shutil.copy(HERE.parent / "samples" / sample, FOLDER / f"mixed.{suffix}")
    mixed = run(TARGET, 1, ["mixed", "matmul"])
    says("a compiler that ends its process fails one program", mixed["mixed"],
         "the compiler crashed (SIG")
    report.equal("and not the next", mixed["matmul"]["error"], None)

    def rename(description):
        description["topology"]["name"] = "v9e:2x4"
    says("an unknown topology gets the compiler's own words",
         run(edited(TARGET, rename), 1, ["matmul"])["matmul"], "target v6e:2x4", "v9e")


def check_cpu():
    linalg = ["eigh", "cholesky", "qr", "solve"]
    two = run(TARGET, 2, ["matmul", "random", "scan", *linalg])
    report.equal("all programs compile", [name for name, one in two.items() if one["error"]], [])
    report.check("each in a time, with processor time and memory of its own",
                 all(one["seconds"] > 0 and one["cpu_seconds"] > 0 and one["peak_memory"] > 1 << 20
                     for one in two.values()))
    alone = run(TARGET, 1, ["eigh", "matmul"], handlers=False)
    says("without the client's functions, the one that is missing is named", alone["eigh"],
         "lapack_ssyevd_ffi")
    report.equal("and other programs compile", alone["matmul"]["error"], None)


FOLDER = lower(*sys.argv[2:])
{"cuda": check_cuda, "tpu": check_tpu, "cpu": check_cpu}[PLATFORM]()
if PLATFORM != "cpu":
    check_saved_topology()
shutil.rmtree(space)
report.finish()
