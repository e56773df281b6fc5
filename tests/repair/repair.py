"""Repairs model.py by what `keel why` says, and by nothing else. Each round runs the model with what is repaired so
far, and repairs every accident that a row names at one of its lines, with advice that leads to its repair.

    repair.py [--keep FOLDER] [--rounds 8]

Prints the rows of each round: right; useless, if the line is an accident's and the advice is not; misleading, if no
accident stands there. Fails if a round names no accident, if there are too many rounds, or if the model is left with
more programs than it has without accidents. With --keep, rounds that an earlier run has left are explained anew
instead of run, as long as they repaired the same. Needs a build (KEEL_TEST_BUILD, default `build`) and .venv-torch
(KEEL_TORCH_PYTHON).
"""

import argparse
import ast
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODEL = HERE / "model.py"
BUILD = pathlib.Path(os.environ.get("KEEL_TEST_BUILD") or ROOT / "build").resolve()
KEEL = BUILD / "bin" / "keel"
PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
FOREIGN = ("KEEL_", "JAX_", "XLA_", "PJRT_", "TPU_", "LIBTPU_")
# An explanation does not depend on how good a program's code is.
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

Row = collections.namedtuple("Row", "line kind advice")
# By accident: the words of which the advice must have one, and the lines where it may be named.
Accident = collections.namedtuple("Accident", "words lines")


def is_switch(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Call) and \
        getattr(node.test.func, "id", "") == "happens"


def accidents():
    """Their lines are those of `if happens("...")`, and those that are marked."""
    source = MODEL.read_text()
    tree = ast.parse(source)
    table = next(node.value for node in tree.body
                 if isinstance(node, ast.Assign) and node.targets[0].id == "ACCIDENTS")
    found = {name: Accident([word.strip().lower() for word in words.split("|")], set())
             for name, words in ast.literal_eval(table).items()}
    for node in filter(is_switch, ast.walk(tree)):
        found[node.test.args[0].value].lines.update(range(node.lineno, node.body[-1].end_lineno + 1))
    for number, line in enumerate(source.splitlines(), 1):
        marker = re.search(r"# <- (.+)$", line)
        for name in marker[1].split(", ") if marker else ():
            found[name].lines.add(number)
    return found


def keel(*words):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    clean |= {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1",
              "XLA_FLAGS": QUICK}
    done = subprocess.run([str(word) for word in (KEEL, *words)], env=clean, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=5400)
    if done.returncode:
        sys.exit(f"keel {words[0]}: exit code {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def run(folder, repaired):
    """How many programs the model has, and what `keel why` says of it."""
    names = ",".join(sorted(repaired))
    done = folder / "repaired"
    if not done.exists() or done.read_text() != names:
        keel("run", "--quiet", "--lines", "--cache-dir", folder / "cache", "--run-dir", folder / "runs", "--",
             PYTHON, MODEL, "--repaired", names)
        done.write_text(names)
    figures = json.loads(keel("stats", "--json", "--run-dir", folder / "runs"))
    return figures["programs"], json.loads(keel("why", "--json", "--run-dir", folder / "runs"))


def rows_of(entries):
    """Each cause of each recompile and each line that splits a step, with how often it is said."""
    return collections.Counter(Row(cause.get("line") or 0, cause["kind"], cause["advice"]["torch"])
                               for entry in entries for cause in entry["causes"] or [entry])


def judge(rows, live):
    """Prints them. The accidents that they name; how many rows of each verdict there are."""
    verdicts, named = collections.Counter(), set()
    for row, times in rows.most_common():
        at = [name for name in live if row.line in live[name].lines]
        right = [name for name in at if any(word in row.advice.lower() for word in live[name].words)]
        verdict = "right" if right else "useless" if at else "misleading"
        verdicts[verdict] += times
        named |= set(right)
        print(f"  {verdict:10} {times:4} {row.kind:10} :{row.line:<4} {', '.join(right or at):30} {row.advice}")
    return named, verdicts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    known, repaired = accidents(), set()
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or pathlib.Path(folder)
        for name in ["reference", *(f"round{number}" for number in range(options.rounds + 1))]:
            (folder / name).mkdir(parents=True, exist_ok=True)
        reference, said = run(folder / "reference", {"all"})
        print(f"without accidents: {reference} programs")
        if said:
            sys.exit(f"and recompiles: {said}")
        for number in range(options.rounds + 1):
            programs, entries = run(folder / f"round{number}", repaired)
            live = {name: known[name] for name in known if name not in repaired}
            print(f"after {number} rounds: {programs} programs, {len(live)} of {len(known)} accidents", flush=True)
            if programs <= reference:
                return
            named, verdicts = judge(rows_of(entries), live)
            print(f"  {dict(verdicts)}; repaired: {', '.join(sorted(named))}", flush=True)
            if not named:
                sys.exit(f"no row names an accident; left: {', '.join(sorted(live))}")
            repaired |= named
        sys.exit("too many rounds")


if __name__ == "__main__":
    main()
