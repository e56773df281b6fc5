#!/usr/bin/env python3
"""What grows with a run, and how fast: programs, retraces in a loop, constants, processes at once.
Prints a section of Markdown.

Usage: .venv/bin/python bench/growth.py [--only programs,loop,constant,first,processes] [--json]

Each kind of work runs at two sizes. Bytes of the journal and of the cache, processor time and peak
memory of the larger one are divided by those of the smaller one. Nothing should grow by more than
4.5 / 4 of what the work does; a ratio of bytes does not depend on the machine, the others are
meaningful on an idle one.

"first" is the first call of a program with a large constant, without Keel and from a warm cache: the
median of runs that take turns.

Programs are those of a client in C (bench_growing) with a plugin that compiles and executes at once,
so what is measured is Keel. The rest is JAX, on its own CPU client.
"""

import argparse
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile

from warm_start import KEEL, PYTHON, ROOT, plain_environment

LIBRARY = ROOT / "build" / "lib" / "libkeel_pjrt.so"
PLUGIN = ROOT / "build" / "lib" / "keel_test_plugin.so"
CLIENT = ROOT / "build" / "bin" / "bench_growing"
STABLEHLO = "1.13.3"
PROGRAMS = (1000, 4000)
REPEATS = (100, 400)
MEGABYTES = (1, 8)
LARGE = (50,)
RUNS = 7
PROCESSES = (1, 20)

LOOP = """
import sys, jax, numpy as np
x = jax.device_put(np.ones(4, np.float32))
for _ in range(int(sys.argv[1])):
    jax.jit(lambda x: x * 2.5)(x)
"""
CONSTANT = """
import sys, jax, numpy as np
c = np.random.default_rng(0).random(int(sys.argv[1]) * 250_000, np.float32)
jax.jit(lambda x: (x * c).sum())(np.float32(1)).block_until_ready()
"""
FIRST = """
import resource, sys, time, jax, numpy as np
c = np.random.RandomState(0).rand(int(sys.argv[1]) * 250_000).astype(np.float32)
x = jax.device_put(np.float32(1))
before = time.process_time()
jax.jit(lambda x: (x * c).sum())(x).block_until_ready()
print(time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
TINY = """
import jax, numpy as np
x = np.ones(4, np.float32)
for i in range(8):
    jax.jit(lambda x, i=i: x * (i + 0.5))(x)
"""


# ---- programs ------------------------------------------------------------------------------------

def text_of(number):
    """One of forty functions; its constant is the program's own."""
    function = number % 40
    kind = "tensor<8x16xf32>"
    place = f'loc(callsite("step_{function}"("model.py":{10 + function}:4) at "train.py":30:4))'
    return f"""module @jit_step_{function} {{
func.func public @main(%x: {kind} loc("x")) -> {kind} {{
%c = stablehlo.constant dense<{number + 1}.5> : {kind} {place}
%0 = stablehlo.multiply %x, %c : {kind} {place}
%1 = stablehlo.tanh %0 : {kind} {place}
return %1 : {kind} {place}
}}
}}
"""


def write_pack(path, count):
    """In a process of its own: this one's memory would count as its children's until they execute."""
    subprocess.run([PYTHON, __file__, "--pack", path, str(count)], check=True,
                   env=plain_environment() | {"JAX_PLATFORMS": "cpu"})


def make_pack(path, count):
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    with open(path, "wb") as file, mlir.make_ir_context():
        for number in range(count):
            module = ir.Module.parse(text_of(number))
            code = stablehlo.serialize_portable_artifact(module, STABLEHLO)
            file.write(struct.pack("<I", len(code)) + code)


# ---- measuring -----------------------------------------------------------------------------------

class Place:
    """A cache and a run folder of its own, and commands that use them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = plain_environment() | {
            "JAX_PLATFORMS": "cpu", "KEEL_CACHE_DIR": str(self.folder / "cache"),
            "KEEL_RUN_DIR": str(self.folder / "runs")}

    def start(self, command, variables):
        with open(self.folder / "output", "w") as output:
            return subprocess.Popen([*map(str, command)], cwd=ROOT, stdout=output, stderr=output,
                                    env=self.environment | variables)

    def measure(self, *commands, **variables):
        """Runs them at once: the processor time of all, and the peak memory of the largest, in KiB."""
        seconds = peak = 0
        for process in [self.start(command, variables) for command in commands]:
            _, status, used = os.wait4(process.pid, 0)
            if status:
                sys.exit(f"growth: {process.args}: status {status}\n{self.output()[-2000:]}")
            seconds += used.ru_utime + used.ru_stime
            peak = max(peak, used.ru_maxrss)
        return {"processor time": seconds, "peak memory": peak}

    def output(self):
        return (self.folder / "output").read_text(errors="replace")

    def journal(self):
        return sum(path.stat().st_size for path in self.folder.glob("runs/*/journal.ndjson"))

    def entries(self):
        return sum(path.stat().st_size for path in self.folder.glob("cache/entries/*/*.keel"))


def programs(place, size):
    pack = place.folder / "pack"
    write_pack(pack, size)
    figures = place.measure([CLIENT, LIBRARY, pack, size], KEEL_PLUGIN=str(PLUGIN))
    first, last = map(float, place.output().split()[-2:])
    rows = {"the run": figures | {"journal": place.journal()},
            "a request": {"early": first, "late": last}}
    for command in ("stats", "why", "report"):
        words = [KEEL, command] + (["-o", place.folder / "report.html"] if command == "report" else [])
        rows[f"keel {command}"] = place.measure(words)
    rows["keel why again"] = place.measure([KEEL, "why"])
    return rows


def jax(script, *words):
    return [KEEL, "run", "--quiet", "--", PYTHON, "-c", script, *words]


def loop(place, size):
    return {"the run": place.measure(jax(LOOP, size)) | {"journal": place.journal()}}


def constant(place, size):
    cold = place.measure(jax(CONSTANT, size)) | {"cache": place.entries()}
    return {"cold": cold, "warm": place.measure(jax(CONSTANT, size))}


def first(place, size):
    place.measure(jax(FIRST, size))
    found = {"without": [], "warm": []}
    for _ in range(RUNS):
        for how, command in (("without", [PYTHON, "-c", FIRST, size]), ("warm", jax(FIRST, size))):
            place.measure(command)
            found[how].append([float(figure) for figure in place.output().splitlines()[-1].split()])
    return {figure: {how: statistics.median(figures[i] for figures in found[how]) for how in found}
            for i, figure in enumerate(("processor time", "peak memory"))}


def processes(place, size):
    cold = place.measure(*[jax(TINY)] * size) | {"journal": place.journal()}
    return {"a cold cache": cold}


KINDS = {"programs": (programs, PROGRAMS, "programs, the newest hundred executed after each compile"),
         "loop": (loop, REPEATS, "calls of `jax.jit` in a loop"),
         "constant": (constant, MEGABYTES, "MB of a constant that a program closes over"),
         "first": (first, LARGE, "MB of a constant: the first call without Keel, and warm"),
         "processes": (processes, PROCESSES, "processes at once")}


def measure(kind):
    work, sizes, _ = KINDS[kind]
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
            found.append(work(Place(folder), size))
    return found


# ---- the section ---------------------------------------------------------------------------------

def shown(figure, value):
    if figure == "processor time":
        return f"{value:.2f} s"
    size = value * 1024 if figure == "peak memory" else value
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def print_compared(kind, found):
    _, sizes, what = KINDS[kind]
    for figure, by in found.items():
        print(f"| {sizes[0]} {what} | {figure} | {shown(figure, by['without'])} "
              f"| {shown(figure, by['warm'])} | {by['warm'] / by['without']:.2f} |")


def print_rows(kind, few, more):
    _, sizes, what = KINDS[kind]
    work = f"{sizes[0]} and {sizes[1]} {what}"
    for part, figures in few.items():
        if "early" in figures:
            late = more[part]["late"]
            print(f"| {sizes[1]} {what} | a request, on the client's thread: of the first and of the last "
                  f"tenth | {more[part]['early']:.0f} us | {late:.0f} us "
                  f"| {late / more[part]['early']:.2f} |")
            continue
        for figure, value in figures.items():
            larger = more[part][figure]
            print(f"| {work} | {part}, {figure} | {shown(figure, value)} "
                  f"| {shown(figure, larger)} | {larger / value:.2f} |")


def section(found):
    print("## What grows\n")
    command = " ".join([".venv/bin/python bench/growth.py", *sys.argv[1:]])
    print(f"Command: `{command}`. The same work at two sizes, each with a cache and a run folder of its "
          "own, which are empty at first. Programs are a C client's, with a plugin that compiles and "
          "executes at once, so what is measured is Keel; the rest is JAX on its own CPU client. "
          "Processor time is that of the command with all its threads and children, memory that of its "
          "largest process. Of the first call with a large constant it is the process's own, the median of "
          f"{RUNS} runs, and smaller and larger stand for without Keel and warm.\n")
    print("| work | figure | smaller | larger | ratio |")
    print("|---|---|--:|--:|--:|")
    for kind, sizes in found.items():
        if len(sizes) == 1:
            print_compared(kind, *sizes)
        else:
            print_rows(kind, *sizes)


def main():
    if sys.argv[1:2] == ["--pack"]:
        return make_pack(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", default=",".join(KINDS), help="kinds of work, comma-separated")
    parser.add_argument("--json", action="store_true", help="the numbers instead of the table")
    arguments = parser.parse_args()
    unknown = [kind for kind in arguments.only.split(",") if kind not in KINDS]
    if unknown:
        parser.error(f"--only: {unknown[0]!r} is none of {', '.join(KINDS)}")
    found = {kind: measure(kind) for kind in arguments.only.split(",")}
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        section(found)


if __name__ == "__main__":
    main()
