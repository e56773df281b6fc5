#!/usr/bin/env python3
"""Writes the table and the log of docs/nam52.md: what each accident of examples/nam52 costs at two depths of MTP, what
`keel why` names first, and a repair that follows it.

Usage: tests/nam52/table.py BUILD [--print] [--run]
  --print   print them instead
  --run     run on the CPU plugin instead of rehearsing: hours, with the seconds that compiling took
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from accidents import EXPECTED, ROOT, Run, rows_of

PAGE = ROOT / "docs" / "nam52.md"
REHEARSE = "rehearse", "--on", "cpu:1", "--compile", "none", "--values", "ones"
RUN = "run", "--plugin", "cpu"


def cell(name, mtp, build, is_run):
    with tempfile.TemporaryDirectory() as folder:
        accident = {"none": None, "all": ",".join(EXPECTED)}.get(name, name)
        run = Run(build, pathlib.Path(folder), accident, RUN if is_run else REHEARSE, mtp=mtp)
    print(f"{name}, MTP {mtp}: {run.counts[-1]} programs", file=sys.stderr, flush=True)
    return run


def named(run):
    """The row with the most programs of its kind and line."""
    if not run.entries:
        return "nothing"
    (kind, file, line), times = collections.Counter(rows_of(run.entries)).most_common(1)[0]
    return f"[{kind}](causes/{kind}.md) `{file}:{line}`" + (f", {times} times" if times > 1 else "")


def table(build, is_run):
    lines = ["| accident | programs, MTP 1 | MTP 3 | last new one in step | executions a step | host reads a step | "
             + ("seconds compiling, MTP 1 | MTP 3 | " if is_run else "") + "`keel why` names |",
             "|---|--:|--:|--:|--:|--:|" + ("--:|--:|" if is_run else "") + "---|"]
    for name in ("none", *EXPECTED, "all"):
        one, three = (cell(name, mtp, build, is_run) for mtp in (1, 3))
        last = one.last() if one.last() == three.last() else f"{one.last()}, {three.last()}"
        seconds = "".join(f" {run.figures['compile_seconds']:.0f} |" for run in (one, three)) if is_run else ""
        lines.append(f"| {name} | {one.counts[-1]} | {three.counts[-1]} | {last} | {one.executes():.1f} | "
                     f"{one.reads():.1f} |{seconds} {named(one)} |")
    return "\n".join(lines)


def log(build):
    said = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("repair.py"), build], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stdout + said.stderr)
    return f"```\n{said.stdout}```"


def main():
    build, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    parts = {"table": table(build, "--run" in words), "log": log(build)}
    page = PAGE.read_text()
    for name, made in parts.items():
        if "--print" in words:
            print(made)
        page = re.sub(rf"(<!-- {name}: made by .*? -->\n).*?(<!-- {name}: end -->)", lambda m: f"{m[1]}\n{made}\n\n{m[2]}", page,
                      flags=re.S)
    if "--print" not in words:
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
