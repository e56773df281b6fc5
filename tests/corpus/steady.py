"""Holds stable programs to a contract: each case of steady.tsv is recorded over ten steps, then runs a
hundred under `keel run --contract FILE --on-drift=refuse`, which must not refuse anything.

    steady.py [--client NAME] [NAME]...
    --client NAME      the rows of this client
    --keep FOLDER      leave each case's script, contract, cache and runs in FOLDER/<name>
    --part K/N         every Nth case, from the Kth on (KEEL_CORPUS_PART; without it, all)
    --jobs N           cases at once (2)

A case is a script of the corpus or an example, with the number of steps of one loop taken from the
environment. Prints a line a case. Needs a build (KEEL_TEST_BUILD, default `build`) and the client's Python.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import cases
import run

HERE = pathlib.Path(__file__).resolve().parent
RECORDED, HELD = 10, 100
STEPS = "KEEL_TEST_STEPS"
Row = collections.namedtuple("Row", "client name loop")


def rows_of(client):
    rows = [Row(*line.split("\t")) for line in (HERE / "steady.tsv").read_text().splitlines()
            if line and not line.startswith("#")]
    return [row for row in rows if row.client == client]


def stage(row, case, folder):
    """A copy of the case whose loop has as many rounds as the environment says. The path of the main file."""
    is_one_file = case.main.parent == HERE / row.client
    if is_one_file:
        (folder / "case").mkdir()
        main = folder / "case" / case.main.name
        shutil.copyfile(case.main, main)
    else:
        shutil.copytree(case.main.parent, folder / "case")
        main = folder / "case" / case.main.name
    text = main.read_text()
    if text.count(row.loop) != 1:
        raise RuntimeError(f"{case.main} has {row.loop!r} {text.count(row.loop)} times; mend steady.tsv")
    head, _, rest = row.loop.partition("range(")
    main.write_text(text.replace(row.loop, f'{head}range(int(__import__("os").environ["{STEPS}"]){rest[rest.index(")"):]}'))
    return main


def keel(words, case, client, main, once, steps, folder):
    options = [*client.options, "--cache-dir", folder / once.cache, "--run-dir", folder / "runs"]
    done = run.answer([run.KEEL, *words, *options, "--quiet", "--", client.python, *shlex.split(case.launch),
                       main, *once.arguments], client.variables | once.variables | {STEPS: str(steps)}, folder)
    if done.returncode:
        raise RuntimeError(f"{steps} steps: exit code {done.returncode}: {done.stderr[-1500:]}")


def drifts_of(journal):
    events = map(json.loads, (journal / "journal.ndjson").read_text().splitlines())
    return [event for event in events if event["event"] == "drift"]


def judge(row, folder):
    """What is wrong, and how many steps Keel counted in the run that was held to the contract."""
    case, client = cases.read(case_path(row)), run.CLIENTS[row.client]
    main = stage(row, case, folder)
    contract = folder / "keel.contract"
    keel(["contract", "record", "-o", contract], case, client, main, case.runs[0], RECORDED, folder)
    keel(["run", "--contract", contract, "--on-drift", "refuse"], case, client, main, case.runs[-1], HELD, folder)
    steps = run.told(folder, "stats")["steps"]
    faults = [f"refused: {event['name']}: {event.get('message')}" for event in drifts_of(run.all_runs(folder)[-1])]
    return faults, steps


def case_path(row):
    file = HERE / row.client / f"{row.name}.py"
    return file if file.exists() else HERE / row.client / row.name


def work(row, base):
    started, steps = time.monotonic(), 0
    folder = base / row.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        faults, steps = judge(row, folder)
    except (RuntimeError, ValueError, KeyError, OSError, subprocess.TimeoutExpired) as error:
        faults = [f"{type(error).__name__}: {error}"]
    return row, faults, steps, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--client", choices=sorted(run.CLIENTS), default="jax")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--part", type=run.part, default=os.environ.get("KEEL_CORPUS_PART") or "1/1", metavar="K/N")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = rows_of(options.client)
    first, count = options.part
    rows = [row for row in rows if row.name in options.names] if options.names else rows[first - 1::count]
    base = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix="keel-steady-"))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, faults, steps, seconds in pool.map(lambda row: work(row, base), rows):
            failed += bool(faults)
            print(f"{'FAILED' if faults else 'ok':8} {row.name}: {steps} steps ({seconds:.0f} s)", flush=True)
            for line in faults:
                print(f"         {line}")
    if not options.keep:
        shutil.rmtree(base, ignore_errors=True)
    print(f"{len(rows) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
