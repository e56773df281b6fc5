#!/usr/bin/env python3
"""Warm starts of real trainers (tests/trainers) and of examples/jax/train_gpt.py on JAX's own client of four CPU
devices, side by side: JAX's persistent cache, Keel, and Keel with python_gc = start. Each is a whole command:
imports, tracing, loading, six steps (train_gpt.py: one). Prints a section of Markdown with clock and processor time.

Usage: .venv/bin/python bench/warm_trainers.py [NAME...] [--repeats 5] [--json]

The environments are those of `tools/setup --trainers`; a program whose environment is missing is skipped and named.
One cold run and one warm run that are not counted fill the cache of each kind; the warm runs then take turns.
Clock times are meaningful only on an otherwise idle machine.
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

import warm_start
from warm_start import KEEL, PYTHON, ROOT

sys.path.insert(0, str(ROOT / "tests" / "trainers"))
import table  # noqa: E402

DEVICES = 4
# MaxText's layers as one loop, and one by one; train_gpt.py has them one by one.
VARIANTS = {"maxtext": {"maxtext, 4 layers in a loop": "base_num_decoder_layers=4",
                        "maxtext, 16 unrolled layers": "base_num_decoder_layers=16 scan_layers=false"}}


class Program:
    def __init__(self, name, python, words, variables):
        self.name, self.python, self.words, self.variables = name, python, words, variables

    def command(self, folder, jax_cache):
        """MaxText sets JAX's cache itself."""
        words = self.words.format(here=table.HERE, out=folder, steps=table.STEPS)
        return [self.python, *words.replace("jax_cache_dir=", f"jax_cache_dir={jax_cache}").split()]


def programs():
    for layers in (8, 48):
        yield Program(f"train_gpt.py, {layers} layers", PYTHON,
                      f"{ROOT / warm_start.SCRIPT} --layers {layers} --steps 1", {})
    for trainer in table.TRAINERS:
        python = ROOT / ".venv-trainers" / trainer.environment / "bin" / "python"
        for name, more in VARIANTS.get(trainer.name, {trainer.name: ""}).items():
            yield Program(name, python, f"{trainer.command} {trainer.platforms.get('cpu', '')} {more}",
                          trainer.variables)


def environment(program):
    kept = warm_start.plain_environment()
    # Bytecode is kept, as it is where people train.
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | program.variables | {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": str(DEVICES),
                                       "HF_HUB_OFFLINE": "1", "WANDB_MODE": "disabled"}


class JaxCache:
    """JAX's own cache, set to keep every program."""

    def __init__(self, folder):
        self.cache = f"{folder}/jax"
        self.prefix, self.variables = [], {"JAX_COMPILATION_CACHE_DIR": self.cache,
                                           "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                                           "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


class Keel:
    cache = ""

    def __init__(self, folder, collector="imports"):
        self.prefix = [KEEL, "run", "--quiet", "--python-gc", collector, "--"]
        self.variables = {"KEEL_CACHE_DIR": f"{folder}/cache", "KEEL_RUN_DIR": f"{folder}/runs"}


def start(program, kind):
    """Seconds on the clock and of processor time of one whole start, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        before, began = os.times(), time.monotonic()
        answer = subprocess.run([*kind.prefix, *program.command(folder, kind.cache)], cwd=folder,
                                env=environment(program) | kind.variables, capture_output=True, text=True)
        seconds, after = time.monotonic() - began, os.times()
        if answer.returncode:
            sys.exit(f"warm_trainers: {program.name}: exit code {answer.returncode}\n{answer.stderr[-2000:]}")
    return seconds, (after.children_user + after.children_system - before.children_user - before.children_system)


def compiles(kind):
    """Of the newest run of Keel's."""
    answer = subprocess.run([KEEL, "stats", "--json"], env=warm_start.plain_environment() | kind.variables,
                            check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout)["compiles"]


def measure(program, repeats):
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        kinds = {"jax": JaxCache(folder), "keel": Keel(folder), "start": Keel(folder, "start")}
        times = {name: [] for name in kinds}
        for repeat in range(-2, repeats):
            for name in warm_start.rotated(kinds, repeat % 3):
                taken = start(program, kinds[name])
                if repeat >= 0:
                    times[name].append(taken)
        result = {"program": program.name, "compiles": compiles(kinds["keel"])}
    for name, taken in times.items():
        clock, processor = zip(*taken)
        result[name] = {"clock": statistics.median(clock), "processor": statistics.median(processor),
                        "clock_range": [min(clock), max(clock)], "processor_range": [min(processor), max(processor)]}
    return result


def section(results, repeats):
    print("## Warm starts of trainers\n")
    command = " ".join([".venv/bin/python bench/warm_trainers.py", *sys.argv[1:]])
    print(f"Command: `{command}`. A whole warm start of {table.STEPS} steps on JAX's own client with {DEVICES} CPU "
          f"devices, imports and tracing included, with JAX's persistent cache and with Keel, which both keep every "
          f"program, and with Keel and `python_gc = start`; medians of {repeats} runs that take turns.\n")
    print("| program | time | JAX's cache | Keel | ratio | python_gc = start | ratio | compiles |")
    print("|---|---|---|---|---|---|---|---|")
    for result in results:
        for what in ("clock", "processor"):
            jax, *keels = (result[kind][what] for kind in ("jax", "keel", "start"))
            cells = [f"{jax:.2f} s", *(cell for keel in keels for cell in (f"{keel:.2f} s", f"{keel / jax:.2f}"))]
            print("| " + " | ".join([result["program"], what, *cells, str(result["compiles"])]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="beginnings of programs' names (default: all)")
    parser.add_argument("--repeats", type=int, default=5, help="warm runs of each kind (default: 5)")
    parser.add_argument("--json", action="store_true", help="the numbers instead of the table")
    arguments = parser.parse_args()
    results = []
    for program in programs():
        if arguments.names and not program.name.startswith(tuple(arguments.names)):
            continue
        if not pathlib.Path(program.python).exists():
            print(f"warm_trainers: {program.name}: {program.python} is missing: tools/setup --trainers",
                  file=sys.stderr)
            continue
        print(f"warm_trainers: {program.name}", file=sys.stderr)
        results.append(measure(program, arguments.repeats))
    if arguments.json:
        print(json.dumps({"warm_trainers": results}, indent=2))
    else:
        section(results, arguments.repeats)


if __name__ == "__main__":
    main()
