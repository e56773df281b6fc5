#!/usr/bin/env python3
"""What `keel smoke` takes as a rehearsal, beside what JAX alone needs to start and trace the same program.
Prints a section of Markdown.

Usage: .venv/bin/python bench/smoke_speed.py [--layers 24] [--steps 20] [--on cpu:1]
                                             [--repeats 5] [--most RATIO] [--json]

`keel smoke --on TARGET` of examples/jax/train_gpt.py rehearses it twice, both at once, and compares what the
two asked for. JAX alone (lower_gpt.py) starts once, makes the same batches and lowers the same large
programs; it executes nothing. The two take turns, as in rehearse_speed.py.

On a machine of two cores that does nothing else, the clock counts: it is what a person waits. Processor time
is that of both rehearsals. With --most, a larger ratio on the clock is exit code 1.
"""

import argparse
import json
import statistics
import sys
import tempfile

from rehearse_speed import TRACE, timed
from warm_start import KEEL, PYTHON, SCRIPT, plain_environment, rotated


def commands(options, folder):
    words = ["--layers", str(options.layers), "--steps", str(options.steps)]
    own = tempfile.mkdtemp(dir=folder)
    return {
        "jax": ([PYTHON, TRACE, *words], {"JAX_PLATFORMS": "cpu"}),
        "smoke": ([KEEL, "smoke", "--on", options.on, "--", PYTHON, SCRIPT, *words], {"TMPDIR": own}),
    }


def measure(options):
    clock, processors = {"jax": [], "smoke": []}, {"jax": [], "smoke": []}
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
    return statistics.median(times["smoke"]) / statistics.median(times["jax"])


def section(options, result):
    print("## Smoke test\n")
    command = " ".join([".venv/bin/python bench/smoke_speed.py", *sys.argv[1:]])
    print(f"Command: `{command}`. `keel smoke --on {result['target']}` of `{SCRIPT} --layers {result['layers']} "
          f"--steps {result['steps']}`, two rehearsals at once, beside a JAX process that starts and lowers the "
          f"same programs once and executes nothing; medians of {options.repeats} runs that take turns, and "
          "their range.\n")
    print("| | JAX lowers | Keel smoke | Keel / JAX |")
    print("|---|--:|--:|--:|")
    for name, times in (("on the clock", result["clock"]), ("processor time", result["processors"])):
        cells = [f"{statistics.median(times[kind]):.2f} s ({min(times[kind]):.2f} to "
                 f"{max(times[kind]):.2f})" for kind in ("jax", "smoke")]
        print(f"| {name} | {cells[0]} | {cells[1]} | {ratio(times):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--on", default="cpu:1", metavar="TARGET")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--most", type=float, metavar="RATIO")
    parser.add_argument("--json", action="store_true", help="the numbers instead of the table")
    options = parser.parse_args()
    result = measure(options)
    if options.json:
        print(json.dumps({"smoke": result}, indent=2))
    else:
        section(options, result)
    if options.most and ratio(result["clock"]) > options.most:
        sys.exit(f"smoke_speed: {ratio(result['clock']):.2f} times as long as JAX")


if __name__ == "__main__":
    main()
