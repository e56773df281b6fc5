#!/usr/bin/env python3
"""Real programs for conformance tests: JAX programs and kinds of StableHLO operations.

Usage: corpus.py FOLDER [NAME...]
Writes each program (or those named) as portable bytecode for two or more targets, as a client would
hand it to a plugin: FOLDER/<name>.v<target>.mlir. Nothing is compiled and no device is used.
"""

import io
import logging
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
logging.disable(logging.WARNING)

import jax  # noqa: E402
from jax._src.interpreters import mlir as jax_mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.dialects import stablehlo  # noqa: E402
from jaxlib.mlir.passmanager import PassManager  # noqa: E402

import corpus_jax  # noqa: E402
import corpus_stablehlo  # noqa: E402

stablehlo.register_stablehlo_passes()
# What clients choose is what the plugin says it can read; old and new are all met.
TARGETS = ["0.9.0", "0.12.0", "0.14.0", "1.0.0", "1.4.0", "1.9.0", "1.13.3", "1.16.1", "1.20.0"]


# Programs whose operations differ from version to version are written for every target.
FOR_ALL = """text_accuracy_default text_all_gather text_all_reduce text_all_to_all text_collective_broadcast
text_composites text_custom_calls text_dot_algorithm text_dynamic_conv text_dynamic_gather text_locations
text_send_and_receive dot_matrix gather_rows scatter_add conv_2d_nhwc scan shard_map_psum""".split()


def version(text):
    return tuple(int(part) for part in text.split("."))


NEWEST = stablehlo.get_current_version()
TARGETS = [target for target in TARGETS if version(target) < version(NEWEST)]


def expand(module):
    """What a client does before it serializes: CHLO operations become StableHLO."""
    copy = ir.Module.parse(module.operation.get_asm(enable_debug_info=True, binary=False))
    PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(copy.operation)
    return copy


def serialize(module, target):
    """None if the target lacks what the program uses."""
    try:
        return stablehlo.serialize_portable_artifact(module, target, allow_other_dialects=True)
    except Exception:  # noqa: BLE001: the bindings raise what they like
        return None


def vhlo_bytes(module):
    """A module that is VHLO already needs no conversion."""
    data = io.BytesIO()
    module.operation.write_bytecode(data, desired_version=6)
    return data.getvalue()


def targets_for(name, place):
    """The newest always; one older for each program, in turn, and what follows it as fallback."""
    if name in FOR_ALL:
        return [[target] for target in [*TARGETS, NEWEST]]
    return [NEWEST], TARGETS[place % len(TARGETS):]


def jax_module(make):
    lowered = make()
    if hasattr(lowered, "compiler_ir"):
        return lowered.compiler_ir("stablehlo")
    return ir.Module.parse(lowered.mlir_module())


def artifacts(name, place):
    """(target, bytes) of a program. What cannot be made raises."""
    if name.startswith("text_"):
        module = ir.Module.parse(corpus_stablehlo.TEXTS[name.removeprefix("text_")])
    else:
        jax.clear_caches()
        module = jax_module(corpus_jax.CASES[name])
    made = []
    if '"vhlo.func_v1"' in corpus_stablehlo.TEXTS.get(name.removeprefix("text_"), ""):
        return [(NEWEST, vhlo_bytes(module))]
    with module.context, ir.Location.unknown():
        module = expand(module)
        for choices in targets_for(name, place):
            for target in choices:
                data = serialize(module, target)
                if data is not None:
                    made.append((target, data))
                    break
    if not made:
        raise ValueError("no target can hold it")
    return made


class silence:
    """Hides what MLIR's own code writes to stderr while programs are tried."""

    def __enter__(self):
        self.saved = os.dup(2)
        self.nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(self.nowhere, 2)

    def __exit__(self, *_):
        os.dup2(self.saved, 2)
        os.close(self.saved)
        os.close(self.nowhere)


def write(folder, names=()):
    """Writes the corpus; gives the files by program and what was left out, with the reason."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files, skipped = {}, {}
    everything = [*corpus_jax.CASES, *(f"text_{name}" for name in corpus_stablehlo.TEXTS)]
    with jax_mlir.make_ir_context():
        for place, name in enumerate(everything):
            if names and name not in names:
                continue
            try:
                with silence():
                    made = artifacts(name, place)
            except Exception as problem:  # noqa: BLE001: a version of JAX lacks it
                skipped[name] = f"{type(problem).__name__}: {str(problem).strip().splitlines()[0][:150]}" \
                    if str(problem).strip() else type(problem).__name__
                continue
            for target, data in made:
                path = folder / f"{name}.v{target}.mlir"
                path.write_bytes(data)
                files.setdefault(name, []).append(path)
    return files, skipped


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    files, skipped = write(sys.argv[1], sys.argv[2:])
    for name, reason in skipped.items():
        print(f"left out {name}: {reason}")
    print(f"{len(files)} programs, {sum(map(len, files.values()))} files; {len(skipped)} left out, "
          f"by jax {jax.__version__}")


if __name__ == "__main__":
    main()
