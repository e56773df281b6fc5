#!/usr/bin/env python3
"""Time to first step of examples/jax/train_gpt.py, three ways on the same plugin, side by side:
the bare plugin, JAX's own persistent cache, and Keel; cold and warm. Warm also Keel with nothing
loaded ahead, and the processor time of each whole command. Prints a section of Markdown.

Usage: .venv/bin/python bench/warm_start.py [--layers 8,24] [--repeats 5] [--cold-repeats 1] [--json]

Cold runs start from an empty cache. All warm runs of a kind share one cache, filled by a cold run
and a first warm run that is not counted. The kinds take turns, in an order that shifts with every
repeat, and the medians are compared. The figures are meaningful only on an otherwise idle machine.
"""

import argparse
import copy
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEEL = ROOT / "build" / "bin" / "keel"
BARE_LOAD = ROOT / "build" / "bin" / "bench_load"
PYTHON = ROOT / ".venv" / "bin" / "python"
SCRIPT = "examples/jax/train_gpt.py"


def embedded_plugin():
    for line in (ROOT / ".venv" / "keel-plugin").read_text().splitlines():
        if line.startswith("library="):
            return ROOT / ".venv" / line.removeprefix("library=")
    sys.exit("warm_start: .venv/keel-plugin names no library; run tools/setup")


def plain_environment():
    """The user's environment, without any cache or platform setting."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("KEEL_", "JAX_", "PJRT_", "XLA_"))}
    return kept | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3"}


class Bare:
    """JAX on the plugin itself: compiles every time."""

    def __init__(self, folder):
        self.env = {"PJRT_NAMES_AND_LIBRARY_PATHS": f"bare:{embedded_plugin()}",
                    "JAX_PLATFORMS": "bare,cpu"}  # `keel run` makes JAX's CPU client too
        self.prefix = []


class JaxCache(Bare):
    """The same with JAX's own persistent cache, set to keep every program."""

    def __init__(self, folder):
        super().__init__(folder)
        self.env |= {"JAX_COMPILATION_CACHE_DIR": f"{folder}/jax",
                     "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                     "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


class Keel:
    """JAX through Keel, which wraps the same plugin."""

    def __init__(self, folder):
        self.env = {"KEEL_PLUGIN": str(embedded_plugin()), "KEEL_CACHE_DIR": f"{folder}/cache",
                    "KEEL_RUN_DIR": f"{folder}/runs"}
        self.prefix = [KEEL, "run", "--quiet", "--"]


def without_prefetch(keel):
    """The same, in the same folders, but each program is loaded only when JAX asks for it."""
    other = copy.copy(keel)
    other.env = keel.env | {"KEEL_PREFETCH": "off"}
    return other


def first_step(kind, layers):
    """Runs the script for one step. The seconds from its start to the end of that step, and the processor
    time of the command with all that it starts."""
    before = os.times()
    command = [*kind.prefix, PYTHON, "-u", SCRIPT, "--layers", str(layers), "--steps", "1"]
    answer = subprocess.run(command, cwd=ROOT, env=plain_environment() | kind.env,
                            capture_output=True, text=True)
    match = re.search(r"^time to first step: ([\d.]+) s$", answer.stdout, re.MULTILINE)
    if answer.returncode or not match:
        sys.exit(f"warm_start: {' '.join(map(str, command))}: exit code {answer.returncode}\n"
                 f"{answer.stderr[-2000:]}")
    after = os.times()
    return float(match[1]), (after.children_user + after.children_system
                             - before.children_user - before.children_system)


def newest_journal(folder):
    """The events of the latest run: a run's name starts with its time."""
    journal = max(pathlib.Path(folder, "runs").glob("*/journal.ndjson"))
    return [json.loads(line) for line in journal.read_text().splitlines()]


def inside_compile(folder):
    """Seconds that a warm run spent inside Compile, the plugin's share of them, and the loads."""
    events = newest_journal(folder)
    compiled = [event["name"] for event in events if event["event"] == "compile"]
    if compiled:
        sys.exit(f"warm_start: a warm run compiled {', '.join(compiled)}; it should load them")
    loads = [event for event in events if event["event"] == "load"]
    plugin = sum(event["seconds"] for event in loads)
    return plugin + sum(event.get("overhead_seconds", 0) for event in loads), plugin, len(loads)


def bare_load(folder):
    """Seconds of the plugin's bare deserialize-and-load, summed over the same stored bytes."""
    if not BARE_LOAD.exists():
        return None
    answer = subprocess.run([BARE_LOAD, "--json", f"{folder}/cache"], cwd=ROOT, check=True,
                            env=plain_environment() | {"KEEL_PLUGIN": str(embedded_plugin())},
                            stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout)["load_seconds"]


def measure(layers, repeats, cold_repeats):
    cold = {"bare": [], "jax": [], "keel": []}
    warm = {"bare": cold["bare"], "jax": [], "keel": [], "plain": []}
    processor = {"jax": [], "keel": [], "plain": []}
    inside = {"keel": [], "plain": []}
    bare_times = []
    makers = {"bare": Bare, "jax": JaxCache, "keel": Keel}
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        kept = {}
        for repeat in range(cold_repeats):
            for name in rotated(makers, repeat):
                place = tempfile.mkdtemp(dir=folder)
                kept[name] = makers[name](place), place
                cold[name].append(first_step(kept[name][0], layers)[0])
        for name in ("jax", "keel"):
            first_step(kept[name][0], layers)
        kept["plain"] = without_prefetch(kept["keel"][0]), kept["keel"][1]
        for repeat in range(repeats):
            for name in rotated(("jax", "keel", "plain"), repeat):
                step, used = first_step(kept[name][0], layers)
                warm[name].append(step)
                processor[name].append(used)
                if name in inside:
                    inside[name].append(inside_compile(kept[name][1]))
            bare_times.append(bare_load(kept["keel"][1]))
    middle = statistics.median
    return {
        "layers": layers,
        "cold": {name: middle(times) for name, times in cold.items()},
        "warm": {name: middle(times) for name, times in warm.items()},
        "processor": {name: middle(times) for name, times in processor.items()},
        "spread": {name: [min(times), max(times)] for name, times in warm.items()},
        "inside": {name: {"compile": middle(time for time, _, _ in times),
                          "plugin": middle(time for _, time, _ in times),
                          "loads": times[-1][2]} for name, times in inside.items()},
        "bare_load": None if None in bare_times else middle(bare_times),
    }


def rotated(names, by):
    names = list(names)
    by %= len(names)
    return names[by:] + names[:by]


def first_step_table(results):
    print("| layers | | bare plugin | JAX's cache | Keel | Keel / JAX's cache "
          "| Keel, prefetch off | / JAX's cache |")
    print("|---|---|---|---|---|---|---|---|")
    for result in results:
        for state in ("cold", "warm", "processor"):
            times = result[state]
            shown = {"processor": "warm, processor time"}.get(state, state)
            bare = {"cold": f"{times.get('bare', 0):.2f} s", "warm": "the same"}.get(state, "")
            plain = ([f"{times['plain']:.2f} s", f"{times['plain'] / times['jax']:.2f}"]
                     if "plain" in times else ["the same", ""])
            print(f"| {result['layers']} | {shown} | {bare} | {times['jax']:.2f} s "
                  f"| {times['keel']:.2f} s | {times['keel'] / times['jax']:.2f} "
                  f"| {plain[0]} | {plain[1]} |")


def inside_compile_table(results):
    print("| layers | | programs loaded | inside Compile | the plugin's part "
          "| bare deserialize-and-load | inside Compile / bare |")
    print("|---|---|---|---|---|---|---|")
    for result in results:
        for name, shown in (("keel", "Keel"), ("plain", "prefetch off")):
            inside, bare = result["inside"][name], result["bare_load"]
            cells = ["-", "-"] if bare is None else [f"{bare * 1e3:.1f} ms",
                                                     f"{inside['compile'] / bare:.2f}"]
            print(f"| {result['layers']} | {shown} | {inside['loads']} "
                  f"| {inside['compile'] * 1e3:.1f} ms | {inside['plugin'] * 1e3:.1f} ms "
                  f"| {cells[0]} | {cells[1]} |")


def section(arguments, results):
    print("## Warm start\n")
    command = " ".join([".venv/bin/python bench/warm_start.py", *sys.argv[1:]])
    print(f"Command: `{command}`. Time to first step of `{SCRIPT} --steps 1`, from the start of "
          f"the script, imports included, and the processor time of the whole command; medians of {arguments.cold_repeats} cold and "
          f"{arguments.repeats} warm runs that take turns.\n")
    first_step_table(results)
    ranges = "; ".join(
        f"{result['layers']} layers: JAX's cache {result['spread']['jax'][0]:.2f} to "
        f"{result['spread']['jax'][1]:.2f} s, Keel {result['spread']['keel'][0]:.2f} to "
        f"{result['spread']['keel'][1]:.2f} s, with prefetch off {result['spread']['plain'][0]:.2f} "
        f"to {result['spread']['plain'][1]:.2f} s" for result in results)
    print(f"\nThe warm runs lie within: {ranges}.\n")
    print("Time inside Compile in a warm run, summed over its programs, against the plugin's bare "
          "deserialize-and-load of the same bytes (the plugin's part: what the client waited for):\n")
    inside_compile_table(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", default="8,24", help="comma-separated (default: 8,24)")
    parser.add_argument("--repeats", type=int, default=5, help="warm runs (default: 5)")
    parser.add_argument("--cold-repeats", type=int, default=1, help="cold runs (default: 1)")
    parser.add_argument("--json", action="store_true", help="the numbers instead of the tables")
    arguments = parser.parse_args()
    results = [measure(int(layers), arguments.repeats, arguments.cold_repeats)
               for layers in arguments.layers.split(",")]
    if arguments.json:
        print(json.dumps({"first_step": results}, indent=2))
    else:
        section(arguments, results)


if __name__ == "__main__":
    main()
