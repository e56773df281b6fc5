#!/usr/bin/env python3
"""What a contract adds to a compile: Keel's own time inside the client's Compile, with and without one.
Prints a section of Markdown.

Usage: .venv/bin/python bench/contract_cost.py [--programs 200] [--repeats 5] [--json]

One JAX script asks for many programs of one function, each with another constant. It runs without a
contract, with one that lists all of them, and with one that lists only the first, so that each of the
others is a drift with a warning. Runs take turns; each has a cache of its own. The figures are medians
of `overhead_seconds` of the run's compiles (docs/journal.md). Executions are not touched by a contract:
the function that clients call for them is the same.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from warm_start import KEEL, PYTHON, ROOT, plain_environment, rotated

SCRIPT = '''
import sys
import jax, jax.numpy as jnp
x = jnp.ones((64, 64))
def step(scale, x):
    for _ in range(20):
        x = jnp.tanh(x @ x) * scale
    return x
for n in range(int(sys.argv[1])):
    jax.jit(step, static_argnums=0)(1.0 + n, x)
'''


def keel(words, folder, **more):
    environment = plain_environment() | {"KEEL_RUN_DIR": f"{folder}/runs", "KEEL_QUIET": "1", **more}
    done = subprocess.run([str(word) for word in (KEEL, *words)], env=environment, cwd=folder,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"contract_cost: keel {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr[-2000:]}")


def overheads(folder):
    newest = max(pathlib.Path(folder, "runs").glob("2*/journal.ndjson"))
    events = [json.loads(line) for line in newest.read_text().splitlines()]
    return [event["overhead_seconds"] for event in events
            if event["event"] == "compile" and event["name"] == "jit_step"]


def measure(options):
    found = {"none": [], "listed": [], "drift": []}
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        script = pathlib.Path(folder, "many.py")
        script.write_text(SCRIPT)
        for name, count in (("listed", options.programs), ("drift", 1)):
            keel(["contract", "record", "-o", f"{name}.contract", "--", PYTHON, script, count], folder,
                 KEEL_CACHE_DIR=tempfile.mkdtemp(dir=folder))
        for repeat in range(options.repeats):
            for name in rotated(found, repeat):
                held = [] if name == "none" else ["--contract", f"{name}.contract", "--on-drift", "warn"]
                keel(["run", *held, "--", PYTHON, script, options.programs], folder,
                     KEEL_CACHE_DIR=tempfile.mkdtemp(dir=folder))
                found[name].append(statistics.median(overheads(folder)))
    return found


def section(options, found):
    medians = {name: statistics.median(values) for name, values in found.items()}
    print("## Contract\n")
    print(f"Command: `{' '.join(['.venv/bin/python bench/contract_cost.py', *sys.argv[1:]])}`. "
          f"Keel's own time in a compile, medians over {options.programs} programs and {options.repeats} runs "
          "that take turns.\n")
    print("| | own time in a compile | more than without |")
    print("|---|--:|--:|")
    for name, title in (("none", "no contract"), ("listed", "a program that is listed"),
                        ("drift", "a program that is not, with a warning")):
        more = (medians[name] - medians["none"]) * 1e3
        print(f"| {title} | {medians[name] * 1e3:.2f} ms | {'' if name == 'none' else f'{more:+.2f} ms'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="the numbers instead of the table")
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        print(json.dumps({"contract": found}, indent=2))
    else:
        section(options, found)


if __name__ == "__main__":
    main()
