"""What a rehearsal says that programs need on a TPU, beside what the compiler says without Keel: to the byte.

Usage: memory.py [nnx] [keras] [maxtext] [maxtext-1.2b]

MaxText is held against its own `train_compile`, for the same options. The others' largest programs are given to
libtpu as the rehearsal recorded them, by JAX's client for a topology alone. It runs on a build (KEEL_TEST_BUILD,
default `build`) with the environments of `tools/setup --trainers`.
"""

import argparse
import json
import re
import subprocess
import sys

import table

sys.path.insert(0, str(table.HERE.parent / "client"))

from harness import KEEL, ROOT, Report, Workspace, clean_environment, run, run_environment, told, whole_json  # noqa: E402

TARGET, TOPOLOGY = "v6e:2x4", "v6e-8"  # as Keel and as MaxText call it
SIZES = ("arguments", "outputs", "aliased", "temporaries", "code")
# As in jaxlib's CompiledMemoryStats.
FIELDS = {"arguments": "argument", "outputs": "output", "aliased": "alias", "temporaries": "temp",
          "code": "generated_code"}
LARGEST = 2  # programs of a trainer that are compiled again
DIRECT = f"""
import json, subprocess, sys
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax.experimental import topologies
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
devices = topologies.get_topology_desc(platform="tpu", topology_name="{TARGET}").devices
def unpacked(path):
    return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout
for program, options in zip(sys.argv[1::2], sys.argv[2::2]):
    with mlir.make_ir_context():
        module = stablehlo.deserialize_portable_artifact(ir.Context.current, unpacked(program))
        options = xla_client.CompileOptions.ParseFromString(unpacked(options))
        made = devices[0].client.compile(module, xla_client.DeviceList(tuple(devices)), options)
    memory = made.get_compiled_memory_stats()
    print(json.dumps({{name: getattr(memory, field + "_size_in_bytes") for name, field in {FIELDS}.items()}}))
"""
TRAIN = ("base_output_directory={out} dataset_type=synthetic enable_goodput_recording=false jax_cache_dir="
         " allow_split_physical_axes=true enable_checkpointing=false enable_tensorboard=false run_name=memory"
         " ici_fsdp_parallelism=-1 ici_tensor_parallelism=2 steps=2 ")
CONFIGURATIONS = {
    "maxtext": "base_emb_dim=512 base_mlp_dim=2048 base_num_decoder_layers=8 head_dim=64 base_num_query_heads=8"
               " base_num_kv_heads=8 vocab_size=32000 max_target_length=512 per_device_batch_size=2",
    "maxtext-1.2b": "base_emb_dim=2048 base_mlp_dim=7168 base_num_decoder_layers=16 head_dim=128"
                    " base_num_query_heads=16 base_num_kv_heads=16 vocab_size=32000 max_target_length=2048"
                    " per_device_batch_size=2"}


def python_of(name):
    trainer = next(one for one in table.TRAINERS if one.name == name)
    return trainer, ROOT / ".venv-trainers" / trainer.environment / "bin" / "python"


def rehearsed(report, space, words, variables):
    """The programs of a rehearsal, the largest first."""
    environment = run_environment(space.path("cache"), space.path("runs"), HF_HUB_OFFLINE="1", WANDB_MODE="disabled",
                                  TF_CPP_MIN_LOG_LEVEL="3", **variables)
    answer = run([KEEL, "rehearse", "--on", TARGET, "--", *words], environment, cwd=space.path("."))
    report.check("the rehearsal runs to its end", answer.code == 0, told(answer))
    memory = whole_json(run([KEEL, "memory", "--json"], environment))
    return sorted(memory["programs"], key=lambda one: one["total"], reverse=True)


def bare(words, variables):
    environment = clean_environment() | variables | {"JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1"}
    return run(words, environment)


def options_of(space):
    """The file of each program's options, by the program's digest."""
    found = {}
    for journal in space.path("runs").glob("*/journal.ndjson"):
        for line in journal.read_text().splitlines():
            event = json.loads(line)
            if event.get("options") and event.get("program"):
                found[event["program"]] = space.path("runs") / "programs" / f"{event['options']}.options.zst"
    return found


def check_direct(report, name):
    trainer, python = python_of(name)
    with Workspace(f"memory-{name}") as space:
        words = trainer.command.format(here=table.HERE, out=space.path("."), steps=table.STEPS).split()
        largest = rehearsed(report, space, [python, *words], trainer.variables)[:LARGEST]
        options, files = options_of(space), []
        for one in largest:
            files += [space.path("runs") / "programs" / f"{one['program']}.mlir.zst", options[one["program"]]]
        answer = bare([python, "-c", DIRECT, *files], trainer.variables)
        if not report.check(f"{name}: libtpu compiles its largest programs by itself", answer.code == 0, told(answer)):
            return
        for one, line in zip(largest, answer.out.splitlines()):
            alone = json.loads(line)
            report.equal(f"{name}, {one['name']}: as PJRT_Compile alone, {alone}", {size: one[size] for size in SIZES},
                         alone)


def check_maxtext(report, name):
    trainer, python = python_of("maxtext")
    with Workspace(f"memory-{name}") as space:
        options = (TRAIN + CONFIGURATIONS[name]).format(out=space.path("out")).split()
        train = "maxtext.trainers.pre_train.train"
        largest = rehearsed(report, space, [python, "-m", train, *options, "hardware=tpu"], trainer.variables)
        step = next(one for one in largest if "train_step" in one["name"])
        answer = bare([python, "-m", f"{train}_compile", *options, "hardware=tpu", f"compile_topology={TOPOLOGY}",
                       "compile_topology_num_slices=1"], trainer.variables)
        said = {size: re.search(rf"\b{field}_size_in_bytes=(\d+)", answer.out + answer.err)
                for size, field in FIELDS.items()}
        if not report.check(f"{name}: its train_compile says what the step needs", all(said.values()), told(answer)):
            return
        alone = {size: int(found[1]) for size, found in said.items()}
        report.equal(f"{name}, {step['name']}: as its train_compile, {alone}", {size: step[size] for size in SIZES},
                     alone)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], "nnx", "keras", *CONFIGURATIONS])
    report = Report()
    for name in parser.parse_args().names or ["nnx", "keras", *CONFIGURATIONS]:
        (check_maxtext if name in CONFIGURATIONS else check_direct)(report, name)
    report.finish()


if __name__ == "__main__":
    main()
