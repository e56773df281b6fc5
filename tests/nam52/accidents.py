#!/usr/bin/env python3
"""What each accident of examples/nam52 costs, and what `keel why` says of it: EXPECTED was written before it was run.

Usage: tests/nam52/accidents.py BUILD [NAME]...

Rehearsed on a CPU that compiles nothing, so programs, executions and reads are counted in seconds. What a read gives
is zero there; the one accident that depends on it is run, for three steps.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "nam52"
STEPS, MTP = 20, 1
STABLE = 2  # programs: the first values, and the step

# `more`: programs beyond the stable ones. `last`: the step of the training, from 1, that had the last new one. `at`: the
# file and a text on the line that is named. `reads`: of each step, by the host.
Expected = collections.namedtuple("Expected", "more last kind at reads", defaults=[0])
EXPECTED = {
    "counter": Expected(2, 3, "constant", ("accidents.c", "keel_constant(total, t->accidents->dropped)"), 2),
    "item": Expected(7, 11, "host_read", ("accidents.c", "keel_read(flag"), 8),
    "branch": Expected(1, 2, "structure", ("step.c", "keel_minimize_losses("), 1),
    "optional": Expected(5, 17, "arguments", ("accidents.c", "keel_input(m->keel, a->name")),
    "gather": Expected(3, 12, "size", ("accidents.c", "*targets = keel_rows_where(")),
    "topk": Expected(4, 7, "constant", ("attention.c", "c->keys")),
    "lengths": Expected(4, 5, "shape", ("accidents.c", "keel_input(m->keel, a->name")),
    "capacity": Expected(3, 5, "size", ("experts.c", "keel_route(")),
    "microstep": Expected(2, 1, "gradient", ("by_hand.c", "x = keel_add(sum->variable, x)")),
    "set_none": Expected(2, 3, "arguments", ("by_hand.c", "keel_assign(g, keel_broadcast(")),
    "adamw": Expected(19, 20, "constant", ("by_hand.c", "keel_constant(m, first)")),
    "mtp_branch": Expected(1, 2, "structure", ("model.c", "keel_pad(x, 1, 0, by)")),
    "warmup": Expected(3, 1, "shape", ("accidents.c", "keel_input(m->keel, a->name")),
    "grow": Expected(6, 10, "shape", ("accidents.c", 'keel_input(m->keel, "written"'), 0.6),
    "bf16": Expected(1, 11, "structure", ("model.c", "keel_cast(x, KEEL_BF16)")),
    "flags": Expected(1, 11, "precision", ("attention.c", "qkv = keel_matmul(x")),
    "barrier": Expected(14, 1, "gradient", ("by_hand.c", "x = keel_add(sum->variable, x)")),
}
# Whose programs differ in more than one place: both sides of its branches, and fragments of the stack.
MANY = "item", "barrier"
WRONG = []


class Run:
    """One run of nam52 and what `keel` says of it."""

    def __init__(self, build, folder, accident, command, steps=STEPS, mtp=MTP):
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("KEEL_", "XLA_"))}
        self.env |= {"KEEL_CONFIG": os.devnull, "VIRTUAL_ENV": str(ROOT / ".venv"),
                     "KEEL_CACHE_DIR": str(folder / "cache"), "KEEL_RUN_DIR": str(folder / "runs")}
        self.keel, figures = build / "bin" / "keel", folder / "figures"
        model = [build / "examples" / "nam52", ROOT / "LICENSE", "--steps", steps, "--mtp", mtp, "--log-every", 1]
        if accident:
            model += ["--accident", accident]
        said = self.answer(*command, "--quiet", "--json", figures, "--", *model)
        self.counts = [int(line.split()[-2]) for line in said.splitlines() if line.startswith("step ")]
        self.figures = json.loads(figures.read_text())
        self.entries = json.loads(self.answer("why", "--json"))
        self.steps = steps

    def answer(self, *words):
        done = subprocess.run([self.keel, *map(str, words)], env=self.env, capture_output=True, text=True, timeout=3000)
        if done.returncode:
            sys.exit(f"keel {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def last(self):
        return next((i + 1 for i, count in enumerate(self.counts) if count == self.counts[-1]), 0)

    def reads(self):
        """Of a step, but for what nam52.c prints."""
        return sum(read["count"] for read in self.figures["reads"] if not read["file"].endswith("nam52.c")) / self.steps

    def executes(self):
        return (self.figures["executes"] - 1) / self.steps


def line_of(at):
    file, text = at
    found = [i for i, line in enumerate((MODEL / file).read_text().splitlines(), 1) if text in line]
    return file, found[0] if found else sys.exit(f"{file} has no {text}")


def rows_of(entries):
    return [(entry["kind"], pathlib.Path(entry["file"]).name, entry["line"]) for entry in entries]


def hold(name, run):
    expected, programs = EXPECTED[name], run.counts[-1]
    row, last = (expected.kind, *line_of(expected.at)), run.last()
    print(f"{name}: {programs} programs, the last in step {last}, {run.executes():.2f} executions and {run.reads():.2f} reads "
          f"a step, {rows_of(run.entries)}", flush=True)
    if programs != STABLE + expected.more or last != expected.last or round(run.reads(), 2) != expected.reads:
        WRONG.append(f"{name}: {programs} programs, the last in step {last}, {run.reads()} reads a step, not {expected}")
    if row not in rows_of(run.entries):
        WRONG.append(f"{name}: {row} is not among {rows_of(run.entries)}")
    for entry in run.entries:
        if name not in MANY and (pathlib.Path(entry["file"]).name, entry["line"]) != row[1:]:
            WRONG.append(f"{name}: misleading: {entry['kind']} {entry['file']}:{entry['line']} {entry['subject']}")


def main():
    build, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or EXPECTED
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rehearse = "rehearse", "--on", "cpu:1", "--compile", "none"
        for name in names:
            own = folder / name
            own.mkdir()
            if name == "counter":
                hold(name, Run(build, own, name, ["run", "--plugin", "cpu"], steps=3))
            else:
                hold(name, Run(build, own, name, rehearse))
        for mtp in (1, 3):
            (folder / f"none{mtp}").mkdir()
            run = Run(build, folder / f"none{mtp}", None, rehearse, steps=200, mtp=mtp)
            print(f"none, MTP {mtp}: {run.counts[-1]} programs in 200 steps, {run.executes()} executions and {run.reads()} reads a step")
            if (run.counts[-1], run.last(), run.reads(), run.entries) != (STABLE, 1, 0, []):
                WRONG.append(f"none, MTP {mtp}: {run.counts}, {run.reads()} reads a step, {run.entries}")
    if WRONG:
        sys.exit("\n".join(WRONG))


if __name__ == "__main__":
    main()
