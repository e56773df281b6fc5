#!/usr/bin/env python3
"""Programs compiled ahead for devices that are not there: in one child after the other, in two at a
time, and by a process that calls the compiler itself. Prints a section of Markdown.

Usage: .venv/bin/python bench/compile_ahead.py [--runs N] [PLATFORM]...
  PLATFORM  cuda and tpu (with .venv-targets, see tools/setup), cpu; those that are there
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "bin" / "compile_programs"
LAYERS = {"cuda": 8, "tpu": 16, "cpu": 8}  # a TPU's compiler is done in a tenth of a second
WAYS = ["here", "1", "2"]


def site(environment):
    return next((ROOT / environment).glob("lib/python3.*/site-packages"), None)


def platforms():
    """By name: the target, the plugin and the Python that lowers for it."""
    found = {}
    targets = site(".venv-targets")
    if targets:
        python = ROOT / ".venv-targets" / "bin" / "python"
        found["cuda"] = ("h200:8", targets / "jax_plugins/xla_cuda12/xla_cuda_plugin.so", python)
        found["tpu"] = ("v6e:2x4", targets / "libtpu/libtpu.so", python)
    facts = dict(line.split("=") for line in (ROOT / ".venv" / "keel-plugin").read_text().split())
    found["cpu"] = ("cpu:2", ROOT / ".venv" / facts["library"], ROOT / ".venv" / "bin" / "python")
    return found


def environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("KEEL_", "XLA_", "JAX_", "TPU_", "CUDA"))} | {
                "PYTHONPATH": str(ROOT / "python")}


def names_of(platform):
    """The largest first, so that the last one does not compile alone for long."""
    return [f"layers{i}" for i in range(LAYERS[platform], 0, -1)] + ["scan", "random", "softmax", "matmul"]


def measure(names, target, plugin, way, folder):
    """Seconds for all programs, from the start of the process."""
    words = [word for name in names
             for word in (folder / f"{name}.mlir", folder / f"{name}.opts")]
    began = time.monotonic()
    done = subprocess.run([PROGRAM, target, plugin, way, "-", *words], env=environment(),
                          capture_output=True, text=True, check=True)
    seconds = time.monotonic() - began
    wrong = [one["error"] for one in map(json.loads, done.stdout.splitlines()) if one["error"]]
    if wrong:
        raise SystemExit(f"compile_ahead: {wrong[0]}")
    return seconds


def measure_all(name, target, plugin, python, runs):
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        folder = pathlib.Path(folder)
        subprocess.run([python, ROOT / "tests" / "targets" / "lower.py", name, folder, *names_of(name)],
                       env=environment(), check=True)
        ways = [way for way in WAYS if name != "cpu" or way != "here"]
        seconds = {way: [] for way in ways}
        for _ in range(runs):
            for way in ways:
                seconds[way].append(measure(names_of(name), target, plugin, way, folder))
    return {way: min(times) for way, times in seconds.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("platforms", nargs="*")
    options = parser.parse_args()
    known = platforms()
    print(f"""## Compiling ahead

Command: `.venv/bin/python bench/compile_ahead.py`. Seconds until all programs are compiled for a device that is not there, from the start of the process; the best of {options.runs} runs that take turns. One process calls the compiler itself, one program after the other, and the compiler uses all cores as it likes; Keel's children are pinned to a core each, except those for the processor.

| target | programs | the process itself | one child | two children | one child / two | itself / two |
|---|--:|---|---|---|---|---|""", flush=True)
    for name in options.platforms or known:
        if name not in known:
            raise SystemExit(f"compile_ahead: {name} is not there; run tools/setup --targets")
        target, plugin, python = known[name]
        best = measure_all(name, target, plugin, python, options.runs)
        here = f"{best['here']:.1f} s" if "here" in best else ""
        over = f"{best['here'] / best['2']:.2f}" if "here" in best else ""
        print(f"| {target} | {len(names_of(name))} | {here} | {best['1']:.1f} s | {best['2']:.1f} s "
              f"| {best['1'] / best['2']:.2f} | {over} |", flush=True)


main()
