#!/usr/bin/env python3
"""JAX on a CPU as it is, with its own persistent cache, and through Keel, side by side: the time to
first step of examples/jax/train_gpt.py and the processor time of the whole command, cold and warm;
and one call of a small jitted function. Prints a section of Markdown.

Usage: .venv/bin/python bench/beside_jax.py [--layers 8,48] [--repeats 3] [--calls 20] [--json]

Each way runs in a cache of its own, first empty, then filled. The ways take turns, in an order that
shifts with every repeat, and medians are compared. The figures are meaningful only on an otherwise
idle machine.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from warm_start import KEEL, PYTHON, ROOT, SCRIPT, plain_environment, rotated

WAYS = ("alone", "cache", "keel")
CALLS = """
import timeit, jax, jax.numpy as jnp
f, x = jax.jit(lambda x: x + 1), jnp.ones(4)
f(x)
print(min(timeit.repeat(lambda: f(x), number=20000, repeat=7)) / 20000 * 1e6)
"""


def command_of(way, folder):
    """The words before Python, and the environment."""
    if way == "keel":
        return [KEEL, "run", "--quiet", "--"], {"KEEL_CACHE_DIR": f"{folder}/cache",
                                                "KEEL_RUN_DIR": f"{folder}/runs"}
    if way == "alone":
        return [], {}
    return [], {"JAX_COMPILATION_CACHE_DIR": f"{folder}/jax",
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


def run(way, folder, *words):
    """Standard output, and the processor time of the command with all that it starts."""
    prefix, variables = command_of(way, folder)
    before = os.times()
    answer = subprocess.run([*prefix, PYTHON, "-u", *words], cwd=ROOT, capture_output=True, text=True,
                            env=plain_environment() | {"JAX_PLATFORMS": "cpu"} | variables)
    after = os.times()
    if answer.returncode:
        sys.exit(f"beside_jax: {way}: exit code {answer.returncode}\n{answer.stderr[-2000:]}")
    used = (after.children_user + after.children_system
            - before.children_user - before.children_system)
    return answer.stdout, used


def first_step(way, folder, layers):
    out, used = run(way, folder, SCRIPT, "--layers", str(layers), "--steps", "1")
    return float(re.search(r"^time to first step: ([\d.]+) s$", out, re.MULTILINE)[1]), used


def measure(layers, repeats):
    times = {(way, state): [] for way in WAYS for state in ("cold", "warm")}
    for repeat in range(repeats):
        with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
            for state in ("cold", "warm"):
                for way in rotated(WAYS, repeat):
                    place = os.path.join(folder, way)
                    os.makedirs(place, exist_ok=True)
                    times[way, state].append(first_step(way, place, layers))
    middle = statistics.median
    return {"layers": layers, "times": [
        {"way": way, "state": state, "first_step": middle(step for step, _ in measured),
         "processor": middle(used for _, used in measured)}
        for (way, state), measured in times.items()]}


def measure_calls(repeats):
    found = {"alone": [], "keel": []}
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        for repeat in range(repeats):
            for way in rotated(found, repeat):
                found[way].append(float(run(way, folder, "-c", CALLS)[0]))
    return {way: statistics.median(values) for way, values in found.items()}


def section(arguments, results, calls):
    print("## JAX on a CPU, with and without Keel\n")
    command = " ".join([".venv/bin/python bench/beside_jax.py", *sys.argv[1:]])
    print(f"Command: `{command}`. `{SCRIPT} --steps 1` on JAX's own CPU client: the time to first step, "
          "from the start of the script, and the processor time of the whole command; medians of "
          f"{arguments.repeats} turns. Cold starts have empty caches.\n")
    print("| layers | | JAX alone | JAX's cache | Keel | Keel / JAX alone | Keel / JAX's cache |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for result in results:
        by = {(row["way"], row["state"]): row for row in result["times"]}
        for state in ("cold", "warm"):
            for figure, shown in (("first_step", "to first step"), ("processor", "processor time")):
                alone, cache, keel = (by[way, state][figure] for way in WAYS)
                print(f"| {result['layers']} | {state}, {shown} | {alone:.2f} s | {cache:.2f} s "
                      f"| {keel:.2f} s | {keel / alone:.2f} | {keel / cache:.2f} |")
    print(f"\nA call of a jitted function of four floats: {calls['alone']:.2f} us alone, "
          f"{calls['keel']:.2f} us through Keel ({calls['keel'] / calls['alone']:.3f}); medians of "
          f"{arguments.calls} processes each, the best of 7 times 20,000 calls in each.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", default="8,48", help="comma-separated (default: 8,48)")
    parser.add_argument("--repeats", type=int, default=3, help="turns (default: 3)")
    parser.add_argument("--calls", type=int, default=20, help="processes for the call (default: 20)")
    parser.add_argument("--json", action="store_true", help="the numbers instead of the table")
    arguments = parser.parse_args()
    results = [measure(int(layers), arguments.repeats) for layers in arguments.layers.split(",")]
    calls = measure_calls(arguments.calls)
    if arguments.json:
        print(json.dumps({"starts": results, "calls": calls}, indent=2))
    else:
        section(arguments, results, calls)


if __name__ == "__main__":
    main()
