#!/usr/bin/env python3
"""Restarts of a PyTorch/XLA training: examples/torch/train_gpt.py with 8 layers, each way with its own
cache, which the first process fills. Prints a section of Markdown.

Usage: .venv/bin/python bench/torch_restart.py [--layers 8] [--steps 3] [--repeats 2] [--json]

The ways are PyTorch/XLA's own persistent cache, on the embedded plugin (which needs Keel's bridge:
KEEL_MODE=off) and on PyTorch/XLA's own CPU client, and Keel. All are measured the same way:
seconds in compiles are PyTorch/XLA's metric CompileTime. The ways take turns; medians are compared.
The figures are meaningful only on an otherwise idle machine.
"""

import argparse
import json
import os
import pathlib
import runpy
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEEL = ROOT / "build" / "bin" / "keel"
PYTHON = pathlib.Path(os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python")
SCRIPT = "examples/torch/train_gpt.py"
MODEL = ["--width", "512", "--heads", "8", "--seq", "128"]
# The ways to use AdamW, and the script's accidents that select them.
OPTIMIZERS = {"on the host": ["--accident", "adamw-host,adamw-state"], "on the device": []}
MARK = "torch_restart: "


def embedded_plugin():
    for line in (ROOT / ".venv" / "keel-plugin").read_text().splitlines():
        if line.startswith("library="):
            return ROOT / ".venv" / line.removeprefix("library=")
    sys.exit("torch_restart: .venv/keel-plugin names no library; run tools/setup")


def child(folder, script, *arguments):
    """Runs the script as its own process would, then prints what PyTorch/XLA counted."""
    if folder:
        import torch_xla.runtime
        torch_xla.runtime.initialize_cache(folder)
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(script)
    runpy.run_path(script, run_name="__main__")
    from torch_xla.debug import metrics
    count, nanoseconds, _ = metrics.metric_data("CompileTime") or (0, 0, None)
    print(MARK + json.dumps({
        "compile": nanoseconds / 1e9, "programs": count,
        "hits": metrics.counter_value("PersistentCacheHit") or 0}))


class Way:
    """A command line before the Python, its environment, the folder of PyTorch/XLA's cache."""

    def __init__(self, folder, prefix, own_cache, **environment):
        self.prefix = [*prefix, "--"] if prefix else []
        self.own_cache = f"{folder}/own" if own_cache else ""
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("KEEL_", "JAX_", "PJRT_", "XLA_"))}
        self.environment |= {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3",
                             "KEEL_PLUGIN": str(embedded_plugin()),
                             "KEEL_CACHE_DIR": f"{folder}/cache", "KEEL_RUN_DIR": f"{folder}/runs"}
        self.environment |= environment


WAYS = {
    "PyTorch/XLA's CPU client and cache": lambda folder: Way(folder, [], True, PJRT_DEVICE="CPU"),
    "PyTorch/XLA's cache, embedded plugin":
        lambda folder: Way(folder, [KEEL, "run", "--quiet", "--mode", "off"], True),
    "Keel, embedded plugin": lambda folder: Way(folder, [KEEL, "run", "--quiet"], False),
    "Keel with `--prefetch off`":
        lambda folder: Way(folder, [KEEL, "run", "--quiet", "--prefetch", "off"], False),
}


def process(way, arguments):
    """Seconds of a whole process, and what it counted."""
    command = [*way.prefix, PYTHON, __file__, "--child", way.own_cache, SCRIPT, *arguments]
    began = time.monotonic()
    answer = subprocess.run([str(word) for word in command], cwd=ROOT, env=way.environment,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True)
    took = time.monotonic() - began
    told = [line for line in answer.stdout.splitlines() if line.startswith(MARK)]
    if answer.returncode or not told:
        sys.exit(f"torch_restart: {' '.join(map(str, command))}: exit code {answer.returncode}\n"
                 f"{answer.stderr[-2000:]}")
    return json.loads(told[-1].removeprefix(MARK)) | {"whole": took}


def rotated(names, by):
    names = list(names)
    by %= len(names)
    return names[by:] + names[:by]


def middle(counted):
    return {name: statistics.median(each[name] for each in counted) for name in counted[0]}


def measure(options, accidents):
    arguments = ["--layers", str(options.layers), "--steps", str(options.steps), *MODEL, *accidents]
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        ways = {name: make(tempfile.mkdtemp(dir=folder)) for name, make in WAYS.items()}
        first = {name: process(way, arguments) for name, way in ways.items()}
        again = {name: [] for name in ways}
        for repeat in range(options.repeats):
            for name in rotated(ways, repeat):
                again[name].append(process(ways[name], arguments))
    return {name: {"first": first[name], "again": middle(again[name])} for name in ways}


def row(optimizer, name, way):
    cells = [optimizer, name, f"{way['first']['programs']:.0f}"]
    for what in ("compile", "whole"):
        first, again = way["first"][what], way["again"][what]
        cells += [f"{first:.2f} s", f"{again:.2f} s", f"{again / first:.3f}"]
    return f"| {' | '.join(cells)} |"


def section(options, results):
    print("## Restart of PyTorch/XLA\n")
    command = " ".join([".venv/bin/python bench/torch_restart.py", *sys.argv[1:]])
    print(f"Command: `{command}`. `{SCRIPT} --layers {options.layers} --steps {options.steps} "
          f"{' '.join(MODEL)}` in a first process with an empty cache, and in later ones (medians of "
          f"{options.repeats}). Compiling is PyTorch/XLA's metric `CompileTime`, which "
          "includes its own work around a compile.\n")
    print("| AdamW | | programs | compiling, first | again | again / first "
          "| whole process, first | again | again / first |")
    print("|---|---|---|---|---|---|---|---|---|")
    for optimizer, ways in results.items():
        for name, way in ways.items():
            print(row(optimizer, name, way))
    hits = sum(way["again"]["hits"] for ways in results.values() for way in ways.values())
    print(f"\nOn the host: `AdamW` as it is, `{' '.join(OPTIMIZERS['on the host'])}`; on the device: "
          f"`capturable`, with its state made beforehand. PyTorch/XLA's own cache loaded "
          f"{hits:.0f} programs. Its CPU client has a different version of XLA than the plugin. "
          "With the embedded plugin, its cache is measured through Keel's bridge "
          "(`KEEL_MODE=off`), because it does not run without.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=2, help="later processes (default: 2)")
    parser.add_argument("--json", action="store_true", help="the numbers instead of the table")
    options = parser.parse_args()
    if not PYTHON.exists():
        print("## Restart of PyTorch/XLA\n\nNot measured: PyTorch/XLA is not installed "
              "(`tools/setup --torch`, or KEEL_TORCH_PYTHON).")
        return
    results = {name: measure(options, accidents) for name, accidents in OPTIMIZERS.items()}
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        section(options, results)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
