"""Runs the drifting cases of the corpora under a contract: the programs from before the planted recompile
are recorded, and under `keel run --contract FILE --on-drift=refuse` the recompile must be refused.

    refuse.py [--client NAME] [NAME]...
    --client NAME      the cases of tests/corpus/NAME
    --keep FOLDER      leave each case's contract, cache and runs in FOLDER/<name>
    --part K/N         every Nth case, from the Kth on (KEEL_CORPUS_PART; without it, all)
    --jobs N           cases at once (2)

A case runs as `run.py` runs it. Its planted recompile is the row of `keel why` that run.py judges, and the
contract is that of the run cut before it: of all that was asked for earlier, in this process and in the
processes before. Then the last process runs again, held to the contract. The first program that is refused
must be the planted one.

A contract leaves operations outside jit and the machine free unless it was asked to list them. Where the
planted recompile is one of these, the contract is recorded once more, with them.

Prints a line a case. A case that is not refused fails. Needs a build (KEEL_TEST_BUILD, default `build`) and
the client's Python.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import cases
import run

HERE = pathlib.Path(__file__).resolve().parent
# Where a library goes through a Python set, each process has another program without this.
SAME_ORDER = {"PYTHONHASHSEED": "0"}
# What these plant is no other program.
SAME_PROGRAM = {"stable": "nothing recompiles", "none": "nothing recompiles",
                "retrace": "the same program is asked for again", "cache": "the same program, which the cache lost",
                "host_read": "a read is not a program"}




def planted(case, client, folder):
    """The row of `keel why` that the case is about; where the whole report is compared, its first one."""
    program = case.program or run.CLIENTS[client].program
    rows = run.told(folder, "why", *(["--all"] if program else []))
    rows = [row for row in rows if row["what"] != "cut" and run.is_as(program, row["name"])]
    if not rows:
        raise RuntimeError("keel why has no row of it")
    return rows[-1 if program else 0]


def cut(journals, key):
    """The lines of the journals, without what was asked for from the program of that key on, in the last one."""
    known, kept = set(), []
    for journal in journals:
        lines = (journal / "journal.ndjson").read_text().splitlines()
        keys = [json.loads(line).get("key") for line in lines]
        before = keys.index(key) if journal == journals[-1] else len(keys)
        known |= set(keys[:before])
        kept += [line for line, asked in zip(lines, keys) if not asked or asked in known]
    return kept


def record(journals, row, folder, *options):
    """The contract of what came before. Returns whether there was anything that it lists."""
    (folder / "keel.contract").unlink(missing_ok=True)
    name = "20000101-000000-00000000"
    lines = cut(journals, row["key"])
    (folder / "runs" / name).mkdir()
    (folder / "runs" / name / "journal.ndjson").write_text("".join(line + "\n" for line in lines))
    done = run.answer([run.KEEL, "contract", "record", "-o", folder / "keel.contract", *options, "--run-dir",
                       folder / "runs", "--from", name], {}, folder)
    shutil.rmtree(folder / "runs" / name)
    if done.returncode and "asked for no program" not in done.stderr:
        raise RuntimeError(f"keel contract record: exit code {done.returncode}: {done.stderr[-600:]}")
    return not done.returncode


def hold(case, client, folder):
    """The last process once more, held to the contract. What was refused, in order."""
    case = dataclasses.replace(case, runs=case.runs[-1:])
    before = run.all_runs(folder)
    try:
        run.execute(case, client._replace(options=[*client.options, "--contract", folder / "keel.contract",
                                                   "--on-drift", "refuse"]), folder, None)
    except RuntimeError:
        pass  # a refused program usually ends the process; the journal says what was refused
    (journal,) = set(run.all_runs(folder)) - set(before)
    events = map(json.loads, (journal / "journal.ndjson").read_text().splitlines())
    return [event for event in events if event["event"] == "drift" and event["verdict"] == "refused"]


def judge(case, options, folder):
    client = run.CLIENTS[options.client]
    client = client._replace(variables=client.variables | SAME_ORDER)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run.execute(case, client, folder, None)
    row = planted(case, options.client, folder)
    journals = run.all_runs(folder)
    refused = hold(case, client, folder) if record(journals, row, folder) else []
    # Operations outside jit and the machine are free, unless a contract lists them.
    for listed in ("--with-operations", "--with-machine"):
        if refused:
            break
        if not record(journals, row, folder, listed):
            raise run.Skipped("the first program of all: nothing came before it")
        refused = hold(case, client, folder)
    if not refused:
        return [f"{row['name']} is not refused"]
    if refused[0]["key"] != row["key"]:
        return [f"{refused[0]['name']} is refused before {row['name']}: {refused[0]['message']}"]
    return []


def verdict(case, folder, options):
    started, faults, skipped = time.monotonic(), [], None
    kind = case.causes[0].kind
    try:
        if kind in SAME_PROGRAM:
            skipped = f"{kind}: {SAME_PROGRAM[kind]}"
        else:
            faults = judge(case, options, folder)
    except run.Skipped as error:
        skipped = str(error)
    except (RuntimeError, ValueError, KeyError, OSError, subprocess.TimeoutExpired) as error:
        faults = [f"{type(error).__name__}: {error}"]
    return run.Verdict(case, faults, skipped, time.monotonic() - started, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--client", choices=sorted(run.CLIENTS), default="jax")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--part", type=run.part, default=os.environ.get("KEEL_CORPUS_PART") or "1/1",
                        metavar="K/N")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = cases.read_all(HERE / options.client)
    first, count = options.part
    chosen = [case for case in chosen if case.name in options.names] if options.names else chosen[first - 1::count]
    base = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix="keel-refuse-"))
    results = []

    def work(case):
        result = verdict(case, base / case.name, options)
        if not options.keep:
            shutil.rmtree(base / case.name, ignore_errors=True)
        return result

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(work, chosen):
            run.tell(result, {})
            results.append(result)
    if not options.keep:
        shutil.rmtree(base, ignore_errors=True)
    total = run.table(results, {})
    sys.exit(1 if total["FAILED"] or not total["ok"] else 0)


if __name__ == "__main__":
    main()
