#!/usr/bin/env python3
"""Compares what Keel writes as HloModuleProto with what XLA reads from it.

Usage: hlo_written.py REWRITE [NAME...]
  REWRITE   the program `rewrite`; `rewrite FROM TO` reads a module and writes it again
  NAME      only these modules

The modules are those of hlo_oracle.py. XLA reads both sides, and prints them without the names of
instructions, which Keel makes anew: the two texts are the same, with their literals, layouts
and schedules.
"""

import pathlib
import subprocess
import sys
import tempfile

import corpus  # sets the environment of JAX, so it comes first
import hlo_oracle
from jaxlib import _hlo

FEWEST_MODULES = 40
MOST_REFUSED = 3


def computations(data):
    """Their texts, in an order of their own: XLA's follows the ids, which are other ones."""
    options = _hlo.HloPrintOptions.canonical()
    options.print_large_constants = True
    options.print_metadata = False
    options.canonicalize_instruction_names = True
    options.print_ids = False
    text = _hlo.HloModule.from_serialized_hlo_module_proto(data).to_string(options)
    return sorted(text.split("\n\n"))


def first_difference(wanted, got):
    for before, after in zip(wanted, got, strict=False):
        for read, written in zip(before.splitlines(), after.splitlines(), strict=False):
            if read != written:
                return f"\n  read    {read.strip()[:600]}\n  written {written.strip()[:600]}"
    return "one of the two is longer"


def check(rewrite, data, folder):
    """What is wrong with what Keel writes; "" if nothing is; None if Keel refuses to write it."""
    source, target = folder / "module.hlo", folder / "written.hlo"
    source.write_bytes(data)
    answer = subprocess.run([rewrite, source, target], capture_output=True, text=True)
    if answer.returncode:
        return None if "was left out when the program was read" in answer.stderr else answer.stderr.strip()
    wanted, got = computations(data), computations(target.read_bytes())
    return "" if wanted == got else first_difference(wanted, got)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rewrite, names = sys.argv[1], sys.argv[2:]
    compared, refused, problems = 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in hlo_oracle.modules():
            if names and name not in names:
                continue
            try:
                with corpus.silence():
                    data = make()
            except Exception:  # noqa: BLE001: a version of JAX or XLA lacks it; hlo_oracle.py says so
                continue
            problem = check(rewrite, data, pathlib.Path(folder))
            if problem is None:
                refused.append(name)
                continue
            compared += 1
            if problem:
                problems += 1
                print(f"{name}: {problem}")
    print(f"{compared} modules, {problems} differ; refused: {', '.join(refused) or 'none'}")
    if problems or (not names and (compared < FEWEST_MODULES or len(refused) > MOST_REFUSED)):
        sys.exit(1)


if __name__ == "__main__":
    main()
