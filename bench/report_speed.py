#!/usr/bin/env python3
"""How long `keel why` and `keel report` take on a run of many programs: the first time, when each
program is explained, and later, with the explanations kept. Prints a section of Markdown.

Usage: .venv/bin/python bench/report_speed.py [--programs 2000] [--repeats 5]

The run is real: many_programs.py under `keel run`, in processes of at most a thousand programs,
since XLA's CPU plugin maps memory for each and Linux limits a process's maps. Before the first time
its explanations are removed.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEEL = ROOT / "build" / "bin" / "keel"
PYTHON = ROOT / ".venv" / "bin" / "python"
SCRIPT = ROOT / "bench" / "many_programs.py"
PROCESS = 1000  # programs per process


def record(folder, programs):
    """Runs the script; all its processes belong to one run."""
    parts = [f"{PYTHON} {SCRIPT} {min(PROCESS, programs - first)} {first}" for first in range(0, programs, PROCESS)]
    environment = os.environ | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([KEEL, "run", "--quiet", f"--run-dir={folder}/runs", f"--cache-dir={folder}/cache", "--",
                    "sh", "-ec", "\n".join(parts)], check=True, env=environment, stderr=subprocess.DEVNULL)
    (run,) = pathlib.Path(folder, "runs").glob("2*")
    return run


def seconds(folder, *command):
    start = time.monotonic()
    subprocess.run([KEEL, *command, f"--run-dir={folder}/runs"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = record(folder, options.programs)
        journal = sum(path.stat().st_size for path in run.glob("*.ndjson"))
        first = []
        for _ in range(options.repeats):
            (run / "explained.ndjson").unlink(missing_ok=True)
            first.append(seconds(folder, "why"))
        rows = [("keel why, the first time", first)]
        for words in (["why"], ["why", "--json"], ["stats"], ["report", "-o", "-"]):
            name = "keel " + " ".join(words)
            rows.append((name, [seconds(folder, *words) for _ in range(options.repeats)]))
    print("## Explaining a run of many programs\n")
    print(f"{options.programs} programs of forty functions, {journal / 2**20:.1f} MiB of journal and "
          f"explanations; medians of {options.repeats}.\n")
    print("| command | seconds |\n|---|---|")
    for name, times in rows:
        print(f"| `{name}` | {statistics.median(times):.2f} |")


if __name__ == "__main__":
    sys.exit(main())
