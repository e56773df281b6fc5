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
import re
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


def read_case(row):
    if row.loop.startswith("--"):
        return cases.Case(row.name, run.ROOT / row.name, [], [cases.Run()], {}, set())
    file = HERE / row.client / f"{row.name}.py"
    return cases.read(file if file.exists() else HERE / row.client / row.name)


def stage(row, case, folder):
    """The main file of a copy of the case whose loop has as many rounds as the environment says."""
    if row.loop.startswith("--"):
        return case.main
    main = folder / "case" / case.main.name
    if case.main.parent == HERE / row.client:
        main.parent.mkdir()
        shutil.copyfile(case.main, main)
    else:
        shutil.copytree(case.main.parent, main.parent)
    text = main.read_text()
    if text.count(row.loop) != 1:
        raise RuntimeError(f"{case.main} has {row.loop!r} {text.count(row.loop)} times; mend steady.tsv")
    loop = re.sub(r"range\(\d+\)", f'range(int(__import__("os").environ["{STEPS}"]))', row.loop)
    main.write_text(text.replace(row.loop, loop))
    return main


def keel(words, row, case, main, once, steps, folder):
    client = run.CLIENTS[row.client]
    arguments = [*shlex.split(row.loop), steps] if row.loop.startswith("--") else once.arguments
    options = [*client.options, "--quiet", "--cache-dir", folder / once.cache, "--run-dir", folder / "runs"]
    done = run.answer([run.KEEL, *words, *options, "--", client.python, *shlex.split(case.launch), main, *arguments],
                      client.variables | once.variables | {STEPS: str(steps)}, folder)
    if done.returncode:
        raise RuntimeError(f"{steps} steps: exit code {done.returncode}: {done.stderr[-1500:]}")


def drifts_of(journal):
    events = map(json.loads, (journal / "journal.ndjson").read_text().splitlines())
    return [event for event in events if event["event"] == "drift"]


def judge(row, folder):
    """What is wrong, and how many steps Keel counted in the run that was held to the contract."""
    case = read_case(row)
    main = stage(row, case, folder)
    contract = folder / "keel.contract"
    keel(["contract", "record", "-o", contract], row, case, main, case.runs[0], RECORDED, folder)
    keel(["run", "--contract", contract, "--on-drift", "refuse"], row, case, main, case.runs[-1], HELD, folder)
    steps = run.told(folder, "stats")["steps"]
    faults = [f"{event['verdict']}: {event['name']}: {event['message']}" for event in drifts_of(run.all_runs(folder)[-1])]
    return faults + ([] if steps >= HELD else [f"{steps} steps were counted"]), steps


def work(row, base):
    started, steps = time.monotonic(), 0
    folder = base / pathlib.Path(row.name).name
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
