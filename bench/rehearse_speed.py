#!/usr/bin/env python3
"""What a rehearsal without compiles takes, beside what JAX alone needs for the same programs. Prints a
section of Markdown.

Usage: .venv/bin/python bench/rehearse_speed.py [--layers 24] [--steps 200] [--on cpu:1]
                                                [--repeats 5] [--most RATIO] [--json]

The rehearsal is the whole command, `keel rehearse --compile none`, of examples/jax/train_gpt.py: it
starts, traces and lowers each program, reads, keys and explains it, goes through all the steps, and
writes its summary. JAX alone (lower_gpt.py) starts, makes the same batches and lowers the same large
programs, for its processor; it executes nothing and has no steps, and it leaves out the small programs
that make the random key.

The two take turns, in an order that shifts with every repeat, and medians are compared. Processor time
(of all processes of the command that ended before it) does not depend much on what else the machine
does; time on the clock does. With --most, a larger ratio of processor times is exit code 1.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from warm_start import KEEL, PYTHON, ROOT, SCRIPT, plain_environment, rotated

TRACE = "bench/lower_gpt.py"


def timed(command, environment):
    """Seconds on the clock and of processors that the command took."""
    with tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        took = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"rehearse_speed: {' '.join(map(str, command))}: exit code "
                     f"{process.returncode}\n{errors.read().decode()[-2000:]}")
    return took, used.ru_utime + used.ru_stime


def commands(options, folder):
    """Each kind's command and variables. Every rehearsal has a cache and runs of its own."""
    words = ["--layers", str(options.layers), "--steps", str(options.steps)]
    own = tempfile.mkdtemp(dir=folder)
    return {
        "jax": ([PYTHON, TRACE, *words], {"JAX_PLATFORMS": "cpu"}),
        "keel": ([KEEL, "rehearse", "--on", options.on, "--compile", "none", "--", PYTHON, SCRIPT,
                  *words], {"KEEL_CACHE_DIR": f"{own}/cache", "KEEL_RUN_DIR": f"{own}/runs"}),
    }


def measure(options, commands):
    """Both kinds of `commands`, "jax" and "keel", in turns."""
    clock, processors = {"jax": [], "keel": []}, {"jax": [], "keel": []}
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        for repeat in range(options.repeats):
            kinds = commands(options, folder)
            for name in rotated(kinds, repeat):
                command, variables = kinds[name]
                took, used = timed(command, plain_environment() | variables)
                clock[name].append(took)
                processors[name].append(used)
    return {"layers": options.layers, "steps": options.steps, "target": options.on,
            "clock": clock, "processors": processors}


def ratio(times):
    return statistics.median(times["keel"]) / statistics.median(times["jax"])


def section(options, result):
    print("## Rehearsal\n")
    command = " ".join([".venv/bin/python bench/rehearse_speed.py", *sys.argv[1:]])
    print(f"Command: `{command}`. `keel rehearse --on {result['target']} --compile none` of "
          f"`{SCRIPT} --layers {result['layers']} --steps {result['steps']}`, the whole command, beside "
          "a JAX process that starts and lowers the same programs and executes nothing; medians of "
          f"{options.repeats} runs that take turns, and their range.\n")
    table("Keel rehearses", (("processor time", result["processors"]), ("on the clock", result["clock"])))


def table(title, rows):
    print(f"| | JAX lowers | {title} | Keel / JAX |")
    print("|---|--:|--:|--:|")
    for name, times in rows:
        cells = [f"{statistics.median(times[kind]):.2f} s ({min(times[kind]):.2f} to "
                 f"{max(times[kind]):.2f})" for kind in ("jax", "keel")]
        print(f"| {name} | {cells[0]} | {cells[1]} | {ratio(times):.2f} |")


def read_options(description, steps):
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--on", default="cpu:1", metavar="TARGET")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--most", type=float, metavar="RATIO")
    parser.add_argument("--json", action="store_true", help="the numbers instead of the table")
    return parser.parse_args()


def main():
    options = read_options(__doc__, 200)
    result = measure(options, commands)
    if options.json:
        print(json.dumps({"rehearsal": result}, indent=2))
    else:
        section(options, result)
    if options.most and ratio(result["processors"]) > options.most:
        sys.exit(f"rehearse_speed: {ratio(result['processors']):.2f} times as much as JAX")


if __name__ == "__main__":
    main()
