#!/usr/bin/env python3
"""Repairs examples/nam52 by what `keel why` says, and by nothing else: from all accidents on, each round switches off
the one that the first row names whose line is an accident's.

Usage: tests/nam52/repair.py BUILD [--mtp N]

Prints each round: programs, recompiles, and the row that was followed. Fails if a round names none before the stable
number of programs is reached. Rehearsed on a CPU that compiles nothing; what a read gives is 1 there.
"""

import pathlib
import re
import sys
import tempfile

from accidents import EXPECTED, MODEL, STABLE, Run, line_of

# Which of several accidents of one line a row is about, by its kind.
KINDS = {"optional": "arguments", "lengths": "shape", "warmup": "shape", "set_none": "arguments"}


def places():
    """By file and line: the accidents that the comments there name, and those of the table."""
    found = {}
    for path in sorted(MODEL.glob("*.c")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            marker = re.search(r"// accident: (.+)$", line)
            for name in marker[1].split(", ") if marker else ():
                found.setdefault((path.name, number + line.strip().startswith("//")), []).append(name)
    for name, expected in EXPECTED.items():
        names = found.setdefault(line_of(expected.at), [])
        if name not in names:
            names.append(name)
    return found


def named(row, live, found):
    """The accidents that a row may be about."""
    if "kept at by_hand.c" in row["subject"]:
        return [name for name in live if name == "barrier"]
    names = found.get((pathlib.Path(row["file"]).name, row["line"]), [])
    return [name for name in names if name in live and KINDS.get(name, row["kind"]) == row["kind"]]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    mtp = int(sys.argv[3]) if sys.argv[2:3] == ["--mtp"] else 1
    found, live = places(), list(EXPECTED)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        while True:
            own = folder / str(len(live))
            own.mkdir()
            run = Run(build, own, ",".join(live), ["rehearse", "--on", "cpu:1", "--compile", "none", "--values",
                                                         "ones"], mtp=mtp)
            said = f"{len(live):2} accidents  {run.counts[-1]:3} programs  {len(run.entries):3} rows"
            if run.counts[-1] == STABLE and not run.entries:
                print(said, f" left: {', '.join(live) or 'none'}")
                return
            passed = 0
            for row in run.entries:
                names = named(row, live, found)
                if names:
                    break
                passed += 1
            else:
                sys.exit(f"{said}  no row names an accident of {', '.join(live)}")
            where = f"{pathlib.Path(row['file']).name}:{row['line']}"
            print(f"{said}  {row['kind']:9} {where:16} {row['subject'][:24]:24} -> {names[0]}"
                  + (f"  ({passed} rows before it name none)" if passed else ""), flush=True)
            live.remove(names[0])


if __name__ == "__main__":
    main()
