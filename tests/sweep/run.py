"""The sweep: many ordinary recompiles that are made from tables, each with the answer that follows from
how it was planted, compared with what `keel why` says.

    run.py [FAMILY]...     these tables of tests/sweep/tables, or all
    --only TEXT            cases whose name has it
    --keep FOLDER          leave sources and runs in FOLDER/<family>
    --again                judge what --keep has left, with this build; nothing is run
    --jobs N               families at once (2)
    --json FILE            leave every verdict there

Prints a line for each case that is wrong and a table of families and changes. Needs a build
(KEEL_TEST_BUILD, default `build`) and .venv-libraries.
"""

import argparse
import collections
import concurrent.futures
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE / "tables")]

import plan

BUILD = pathlib.Path(os.environ.get("KEEL_TEST_BUILD") or ROOT / "build").resolve()
KEEL = BUILD / "bin" / "keel"
PYTHON = ROOT / ".venv-libraries" / "bin" / "python"
DEADLINE = 1800  # seconds for a family, on a slow and busy machine
FOREIGN_SETTINGS = ("KEEL_", "JAX_", "XLA_", "PJRT_", "TPU_", "LIBTPU_")
# An explanation does not depend on how good a program's code is.
QUICK = {"XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"}

Verdict = collections.namedtuple("Verdict", "family name change word expected got")


def environment():
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(FOREIGN_SETTINGS)}
    return clean | QUICK | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3",
                            "PYTHONDONTWRITEBYTECODE": "1", "EQX_ON_ERROR": "nan",
                            "PYTHONPATH": str(HERE)}


def families():
    return sorted(path.stem for path in (HERE / "tables").glob("*.py"))


def cases_of(family, only):
    table = importlib.import_module(family)
    found = [case for recipe in table.RECIPES for case in plan.cases_of(recipe) if only in case.name]
    names = collections.Counter(case.name for case in found)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ValueError(f"{family}: two cases of one name: {twice[:3]}")
    return found


def execute(family, only, folder):
    """Runs the cases of a family in one process; leaves the source, the notes and the run in folder."""
    cases = cases_of(family, only)
    source, places = plan.source_of(family, importlib.import_module(family).IMPORTS, cases)
    folder.mkdir(parents=True)
    (folder / f"{family}.py").write_text(source)
    expected = {case.name: case.expected for case in cases}
    (folder / "cases.json").write_text(json.dumps([places, expected]))
    with open(folder / "output.txt", "w") as output:
        subprocess.run([KEEL, "run", "--quiet", "--cache-dir", folder / "cache", "--run-dir", folder / "runs", "--",
                        PYTHON, f"{family}.py"], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                       stdout=output, stderr=output, timeout=DEADLINE, check=False)
    if not (folder / "planted.ndjson").exists():
        raise RuntimeError(f"{family}: nothing ran: {(folder / 'output.txt').read_text()[-600:]}")


def told(folder):
    done = subprocess.run([KEEL, "why", "--json", "--all", "--run-dir", folder / "runs"], env=environment(),
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def asked(folder):
    """The programs that were asked for, by name."""
    found = collections.defaultdict(list)
    for path in (folder / "runs").glob("*/journal.ndjson"):
        for line in path.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "ask":
                found[event["name"]].append(event["program"])
    return found


def show(cause):
    return f"{cause['kind']} {cause['subject']}: {cause['old']} -> {cause['new']} at {cause['line']}"


def expectation(note, places, expected):
    """What must be said: the table's answer where it has one, else what the arguments tell."""
    answer = {"kind": note.get("kind"), "subject": note.get("subject"), "old": note.get("old"),
              "new": note.get("new"), "line": "call"}
    if expected:
        answer = {"subject": None} | expected
    return answer | {"line": places[answer["line"]]}


def is_right(answer, causes):
    if len(causes) != 1:
        return False
    got = causes[0]
    return got["kind"] in answer["kind"].split("|") and all(
        answer[field] is None or answer[field] == got[field]
        for field in ("subject", "old", "new", "line"))


def judge(family, folder):
    places, expected = json.loads((folder / "cases.json").read_text())
    notes, errors = {}, {}
    for line in (folder / "planted.ndjson").read_text().splitlines():
        note = json.loads(line)
        (errors if "error" in note else notes)[note["name"]] = note
    programs = asked(folder)
    entries = collections.defaultdict(list)
    for entry in told(folder):
        if entry["what"] != "cut" and entry["kind"] != "first":
            entries[entry["name"]].append(entry)
    for name in places:
        note = notes.get(name)
        if name in errors or not note:
            yield Verdict(family, name, note["change"] if note else "", "not run", "", errors.get(name, {}).get("error", "it did not come to it"))
            continue
        if len(set(programs[f"jit_{name}"])) < 2:
            yield Verdict(family, name, note["change"], "same", "", "one program")
            continue
        if not expected[name] and "kind" not in note:
            yield Verdict(family, name, note["change"], "same", "", "nothing that the program reads is another")
            continue
        answer = expectation(note, places[name], expected[name])
        rows = entries[f"jit_{name}"]
        causes = rows[-1]["causes"] if rows else []
        right = is_right(answer, causes) and not rows[-1]["unrelated"]
        yield Verdict(family, name, note["change"], "right" if right else "wrong", show(answer),
                      "; ".join(show(cause) for cause in causes) or ("unrelated" if rows else "nothing"))


def sweep(family, options):
    started = time.monotonic()
    folder = options.folder / family
    if not options.again:
        shutil.rmtree(folder, ignore_errors=True)
        execute(family, options.only, folder)
    elif not folder.exists():
        return []
    else:
        for path in (folder / "runs").glob("*/explained.ndjson"):
            path.unlink()
    verdicts = [one for one in judge(family, folder) if options.only in one.name]
    print(f"{family}: {len(verdicts)} cases, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return verdicts


def table(verdicts):
    """Right of all, family by change."""
    counts = collections.Counter((one.family, one.change, one.word) for one in verdicts)
    for family in sorted({one.family for one in verdicts}):
        print(f"\n{family}")
        for change in sorted({one.change for one in verdicts if one.family == family}) + [None]:
            number = {word: sum(count for (its, what, is_word), count in counts.items()
                                if its == family and is_word == word and change in (None, what))
                      for word in ("right", "wrong", "same", "not run")}
            print(f"  {change or 'all':16} right {number['right']:4}   wrong {number['wrong']:4}   "
                  f"same program {number['same']:3}   not run {number['not run']:3}")
    judged = [one for one in verdicts if one.word in ("right", "wrong")]
    right = sum(one.word == "right" for one in judged)
    print(f"\n{right} of {len(judged)} right ({100 * right / max(1, len(judged)):.1f} %), "
          f"{sum(one.word == 'same' for one in verdicts)} the same program, "
          f"{sum(one.word == 'not run' for one in verdicts)} did not run")


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("family", nargs="*")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args(arguments)
    unknown = set(options.family) - set(families())
    if unknown:
        parser.error(f"no such family: {', '.join(sorted(unknown))}; there are {', '.join(families())}")
    return options


def main():
    options = options_of(sys.argv[1:])
    if not PYTHON.exists():
        print("skipped: no .venv-libraries; tools/setup --libraries makes it")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        options.folder = (options.keep or pathlib.Path(scratch)).resolve()
        chosen = options.family or families()
        chosen.sort(key=lambda family: -len(cases_of(family, options.only)))  # the longest first
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            parts = list(pool.map(lambda family: sweep(family, options), chosen))
    verdicts = [one for part in parts for one in part]
    for one in verdicts:
        if one.word in ("wrong", "not run"):
            print(f"{one.word}  {one.family} {one.name}\n    expected {one.expected}\n    got      {one.got}")
    table(verdicts)
    if options.json:
        options.json.write_text(json.dumps([one._asdict() for one in verdicts], indent=1))
    return 1 if any(one.word == "wrong" for one in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
