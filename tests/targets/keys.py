"""What belongs into the key of a program for a GPU, by what the real compiler does with it: flags that
change code and flags that do not, the memory limit, the kernels of Pallas.

XLA repeats the options in the executable, so only what runs is compared (gpu_executable.py).
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

import gpu_executable  # noqa: E402
from harness import KEEL, Report, clean_environment, run, told  # noqa: E402

BUILD = pathlib.Path(os.environ["KEEL_TEST_BUILD"]) / "bin"
PYTHON = os.environ["KEEL_TARGETS_PYTHON"]
SITE = next(pathlib.Path(PYTHON).parent.parent.glob("lib/python3.*/site-packages"))
PLUGIN = SITE / "jax_plugins/xla_cuda12/xla_cuda_plugin.so"
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not re.match("CUDA|XLA_|JAX_|KEEL_(?!TEST)", name)} | {"TF_CPP_MIN_LOG_LEVEL": "3"}

report = Report()
space = pathlib.Path(tempfile.mkdtemp(prefix="keel-keys-"))

# Left out of the key (src/key/dump_flags.h).
LEFT_OUT = {
    "xla_gpu_cuda_data_dir": "./other", "xla_dump_max_hlo_modules": 3, "xla_dump_disable_metadata": True,
    "xla_dump_include_timestamp": True, "xla_hlo_graph_sharding_color": True,
    "xla_detailed_logging": False, "xla_enable_dumping": False,
    "xla_gpu_per_fusion_autotune_cache_dir": str(space), "xla_gpu_experimental_autotune_cache_mode": 2,
    "xla_hlo_print_inline_stack_frames": True, "xla_enable_scoped_logging_timers": False}
# In the key, and needed there: they change what runs.
MATTERS = {
    "xla_gpu_autotune_level": 0, "xla_gpu_enable_triton_gemm": False, "xla_gpu_ftz": True,
    "xla_gpu_generate_line_info": True, "xla_gpu_generate_debug_info": True,
    "xla_gpu_disable_gpuasm_optimizations": True}
# In the key although this program's code is the same: they matter to other programs, or while a
# program runs.
KEPT = {
    "xla_gpu_executable_terminate_timeout_seconds": 77, "xla_gpu_all_reduce_combine_threshold_bytes": 1 << 14,
    "xla_gpu_enable_latency_hiding_scheduler": True, "xla_gpu_memory_limit_slop_factor": 90}

MEMORY = 15  # device_memory_size of ExecutableBuildOptionsProto, which is field 3 of the options
OPTIONS = """
import sys, json
from jax._src import compiler
import numpy as np
made = compiler.get_compile_options(num_replicas=1, num_partitions=1,
                                    device_assignment=np.zeros((1, 1), int))
made.executable_build_options.use_spmd_partitioning = True
made.env_option_overrides = list(json.loads(sys.argv[2]).items())
open(sys.argv[1], "wb").write(made.SerializeAsString())
"""

KERNEL = '''
import jax, jax.numpy as jnp
from jax.experimental import pallas
def scale(a, out):
    out[...] = a[...] * FACTOR
@jax.jit
def call(a):
    return pallas.pallas_call(scale, out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype))(a)
print(call(jnp.ones((64, 64))).shape)
'''


def varint(value):
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def with_memory(options, size):
    more, out = varint(MEMORY << 3) + varint(size), b""
    for number, value in gpu_executable.fields(options):
        if number == 3:
            value += more
        is_bytes = isinstance(value, bytes)
        out += varint(number << 3 | (2 if is_bytes else 0))
        out += varint(len(value)) + value if is_bytes else varint(value)
    return out


def write_options(name, flags, memory=None):
    path = space / f"{name}.opts"
    subprocess.run([PYTHON, "-c", OPTIONS, path, json.dumps(flags)], check=True,
                   env=ENVIRONMENT | {"JAX_PLATFORMS": "cpu"})
    if memory is not None:
        path.write_bytes(with_memory(path.read_bytes(), memory))
    return path


def key(options, program):
    done = subprocess.run([KEEL, "key", "--json", "--options", options, program], env=ENVIRONMENT,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["components"]["compile options"]


def compile_all(program, options):
    """The code of each, or the error; by name."""
    out = space / "executables"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    done = subprocess.run(
        [BUILD / "compile_programs", "h200:1", PLUGIN, "1", out,
         *(word for path in options.values() for word in (program, path))],
        env=ENVIRONMENT | {"HANDLERS": str(space / "programs/handlers"), "PYTHON": PYTHON},
        capture_output=True, text=True, timeout=1500)
    lines = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda one: one["id"])
    return {name: one["error"] or gpu_executable.code((out / f"{one['id']}.executable").read_bytes())
            for name, one in zip(options, lines)}


def check_flags():
    program = space / "programs/matmul.mlir"
    options = {"nothing": write_options("nothing", {}), "nothing again": write_options("again", {})}
    for name, value in (LEFT_OUT | MATTERS | KEPT).items():
        options[name] = write_options(name, {name: value})
    codes, plain = compile_all(program, options), key(options["nothing"], program)
    report.check("two compiles have the same code", isinstance(codes["nothing"], dict)
                 and codes["nothing"] == codes["nothing again"], codes["nothing"])
    for name in LEFT_OUT | MATTERS | KEPT:
        is_same, has_key = codes[name] == codes["nothing"], key(options[name], program) != plain
        if isinstance(codes[name], str):
            report.check(f"{name} is taken", False, codes[name][:200])
        elif name in MATTERS:
            report.check(f"{name} changes code and keys", not is_same and has_key, (is_same, has_key))
        else:
            report.equal(f"{name}: the same code, and whether the key differs", (is_same, has_key),
                         (True, name in KEPT))


def check_memory():
    """XLA schedules and recomputes by the limit as soon as a program comes near it."""
    program = space / "programs/layers3.mlir"
    sizes = {"much": 113548197888, "a byte more": 113548197889, "little": 1 << 20}
    options = {name: write_options(name, {}, size) for name, size in sizes.items()}
    codes = compile_all(program, options)
    keys = {name: key(path, program) for name, path in options.items()}
    report.equal("a byte of memory more does not change code", codes["much"], codes["a byte more"])
    report.check("a limit that a program comes near does", codes["much"] != codes["little"], codes)
    report.equal("each limit has a key of its own", len(set(keys.values())), 3)


def check_kernels():
    """The configuration of a Triton kernel is the kernel: it is stored, and another process loads it."""
    folders = [space / f"lowered{seed}" for seed in (1, 2)]
    for seed, folder in enumerate(folders):
        subprocess.run([PYTHON, HERE / "lower.py", "cuda", folder, "pallas"], check=True,
                       env=ENVIRONMENT | {"PYTHONHASHSEED": str(seed),
                                          "PYTHONPATH": str(HERE.parent.parent / "python")})
    report.equal("two processes lower a kernel to the same bytes",
                 (folders[0] / "pallas.mlir").read_bytes(), (folders[1] / "pallas.mlir").read_bytes())
    said = []
    for name, factor in (("first", 2), ("second", 2), ("other", 3)):
        script = space / "kernel.py"
        script.write_text(KERNEL.replace("FACTOR", str(factor)))
        answer = run([KEEL, "rehearse", "--on", "h200:1", "--", PYTHON, script],
                     clean_environment() | {"KEEL_CACHE_DIR": str(space / "cache"), "KEEL_CONFIG": os.devnull,
                                            "KEEL_RUN_DIR": str(space / "runs" / name)})
        report.check(f"the {name} kernel is compiled or loaded", answer.code == 0, told(answer))
        said.append(answer.err)
    report.check("a kernel is stored", "nothing compiled" not in said[0] and
                 "nothing compiled" in said[1], said[1][-600:])
    report.check("another kernel has another key", "nothing compiled" not in said[2], said[2][-600:])


def main():
    subprocess.run([PYTHON, HERE / "lower.py", "cuda", space / "programs", "matmul", "layers3"], check=True,
                   env=ENVIRONMENT | {"PYTHONPATH": str(HERE.parent.parent / "python")})
    check_flags()
    check_memory()
    check_kernels()
    shutil.rmtree(space)
    report.finish()


main()
