#!/usr/bin/env python3
"""Compares the text that Keel writes of MLIR with the bytecode that it was read from.

Usage: mlir_written.py REWRITE [FILE...]
  REWRITE   the program `rewrite`; `rewrite FROM TO` reads a program and writes it again
  FILE      only these programs (the whole corpus and the samples)

MLIR reads both, by the bindings in jaxlib, and prints them without locations: the two texts are the
same. What may differ is listed in `settled`, with the reason. Which programs Keel refuses to write is
listed too, with its words. Exits with 1 where something else differs, or is refused.
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import types

import corpus  # sets the environment of JAX, so it comes first
from corpus import ir, jax_mlir
from mlir_text import ADDED

sys.modules.setdefault("jaxlib.mlir.dialects.vhlo", types.ModuleType("vhlo"))

HERE = pathlib.Path(__file__).resolve().parent
LEAST_PROGRAMS = 200
MOST_SHOWN = 20

# Programs of the corpus that have no text, and what Keel says of them.
REFUSED = {
    "text_resources": "dense_resource",
    "text_string_tensor": "an array of strings",
    "text_wide_integer": "an integer that is wider than 64 bits",
}


def single(found):
    """VHLO's text has floats as doubles, so MLIR prints 1e-5 of an f32 as the double that it is."""
    digits = found[1] if found[1].startswith("0x") else repr(struct.unpack("f", struct.pack("f", float(found[1])))[0])
    return f"float_v1<{digits} :"


def settled(text):
    """The text without what may differ."""
    text = re.sub(r"float_v1<([^ :]*) :", single, text)
    # A tensor without elements may have been written as a splat; the element means nothing.
    text = re.sub(r"dense<[^>]*> : (tensor<(?:\d+x)*0x)", r"dense<> : \1", text)
    # Older versions of operations, without the property that is new and says nothing.
    text = text.replace("vhlo.composite_v2", "vhlo.composite_v1")
    for newer, (name, nothing) in ADDED.items():
        text = text.replace(f"vhlo.{newer}", f"vhlo.{newer.removesuffix('2')}1")
        added = re.escape(f"{name} = {nothing}")
        text = re.sub(f", {added}|{added}, ", "", text)
    return text


def printed(source):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(source)
        return settled(module.operation.get_asm(enable_debug_info=False, print_generic_op_form=True,
                                                large_elements_limit=None))


def first_difference(wanted, got):
    for before, after in zip(wanted.splitlines(), got.splitlines(), strict=False):
        if before != after:
            at = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
            return f"\n  read    {before[max(0, at - 100):at + 300]}\n  written {after[max(0, at - 100):at + 300]}"
    return "one of the two is longer"


def check(rewrite, path, target):
    """What is wrong; "" if nothing is; None if Keel refuses it as it should."""
    answer = subprocess.run([rewrite, path, target], capture_output=True, text=True)
    words = REFUSED.get(path.name.split(".")[0])
    if words:
        return None if words in answer.stderr else f"is not refused for {words}: {answer.stderr.strip()}"
    if answer.returncode:
        return answer.stderr.strip()
    wanted = printed(path.read_bytes())
    try:
        got = printed(target.read_text())
    except Exception as problem:  # noqa: BLE001: the bindings raise what they like
        return f"is not read: {str(problem)[:500]}"
    return "" if wanted == got else first_difference(wanted, got)


def files(folder):
    made, _ = corpus.write(folder)
    return [*(path for paths in made.values() for path in paths),
            *sorted((HERE.parent / "samples").rglob("*.mlir"))]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rewrite, paths = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
    compared = refused = problems = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in paths or files(folder):
            with corpus.silence():
                problem = check(rewrite, path, pathlib.Path(folder) / "written.mlir")
            if problem is None:
                refused += 1
            elif problem:
                problems += 1
                if problems <= MOST_SHOWN:
                    print(f"{path.name}: {problem}")
            else:
                compared += 1
    print(f"{compared} programs are the same, {problems} differ, {refused} are refused as they should")
    if problems or (not paths and compared < LEAST_PROGRAMS):
        sys.exit(1)


if __name__ == "__main__":
    main()
