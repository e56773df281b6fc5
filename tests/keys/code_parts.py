"""What of a serialized executable is code, as digests of its parts, by name.

XLA repeats the options of a compile in the executable, so its bytes differ whenever an option does,
whether it matters or not. For a processor: CompilationResultProto of xla/service/cpu/executable.proto.
For a TPU: records like a GPU's (tests/targets/gpu_executable.py); the second is what is loaded.
"""

import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "targets"))

import gpu_executable  # noqa: E402
from gpu_executable import fields, records, varint  # noqa: E402

RESULT = 1  # of the executable; the rest are options
MODULE, HLO, COMPUTATIONS = 1, 1, 3  # of CompilationResultProto, HloModuleProtoWithConfig, HloModuleProto
TPU_PROGRAM = 1  # the number of the record


def digest(value):
    return hashlib.sha256(value if isinstance(value, bytes) else repr(value).encode()).hexdigest()[:16]


def parts_of_cpu(data):
    result = next(value for number, value in fields(data) if number == RESULT)
    parts = {}
    for number, value in fields(result):
        if number == MODULE:
            module = next(part for of, part in fields(value) if of == HLO)
            number, value = "computations", [part for of, part in fields(module) if of == COMPUTATIONS]
        parts.setdefault(number, []).append(value)
    # Threads compile the functions, so object files come in any order.
    return {str(number): digest(sorted(map(repr, values))) for number, values in parts.items()}


def parts_of_tpu(data):
    return {"program": digest(list(records(data))[TPU_PROGRAM])}


def parts(platform, data):
    """`data` is what JAX serializes: a message of its own with its size, then what the plugin gave."""
    size, at = varint(data, 0)
    read = {"cpu": parts_of_cpu, "tpu": parts_of_tpu, "cuda": gpu_executable.code}[platform]
    return {str(name): value for name, value in read(data[at + size:]).items()}
