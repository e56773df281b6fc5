#!/usr/bin/env python3
"""Keys of programs in the encodings of several versions of StableHLO.

Usage: mlir_versions.py KEEL [NAME...]
A client writes a program in the version that its compiler can read. Writes each program of the corpus
(or those named) in the versions that backends of today read, with MLIR's own writer, and asks
`KEEL key` whether they share the key's program. Exits with 1 where they do not, or where fewer than
200 programs could be compared.
"""

import pathlib
import subprocess
import sys
import tempfile

import corpus  # sets the environment of JAX, so it comes first

OLDEST = "1.13.3"  # of the plugin that Keel brings
LEAST_PROGRAMS = 200


def is_same(keel, before, after):
    """None if it has no key but its bytes."""
    done = subprocess.run([keel, "key", before, after], capture_output=True, text=True)
    return {0: True, 1: False}.get(done.returncode)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    keel, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    corpus.TARGETS = [target for target in corpus.TARGETS if corpus.version(target) >= corpus.version(OLDEST)]
    corpus.targets_for = lambda name, place: [[target] for target in [*corpus.TARGETS, corpus.NEWEST]]
    compared, faults = 0, []
    with tempfile.TemporaryDirectory() as folder:
        files, _ = corpus.write(folder, names)
        for *older, newest in files.values():
            answers = {path.name: is_same(keel, path, newest) for path in older}
            compared += True in answers.values()
            faults += [f"{name} and {newest.name} differ" for name, answer in answers.items() if answer is False]
    print(*faults, f"{compared} programs, {len(faults)} faults", sep="\n")
    if faults or (not names and compared < LEAST_PROGRAMS):
        sys.exit(1)


if __name__ == "__main__":
    main()
