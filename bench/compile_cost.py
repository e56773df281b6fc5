#!/usr/bin/env python3
"""What the plugin door adds to a compile in the client's process, on all of its threads: instructions
(callgrind) and bytes of heap (massif). The wrapped plugin is that of tests/plugin, which costs almost
nothing. Prints a section of Markdown.

Usage: .venv/bin/python bench/compile_cost.py [--library LIBRARY]...
  --library   another build of the plugin door to measure beside this one
"""

import argparse
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CLIENT = BUILD / "bin" / "bench_compile"
DOOR = BUILD / "lib" / "libkeel_pjrt.so"
PLUGIN = BUILD / "lib" / "keel_test_plugin.so"
PYTHON = ROOT / ".venv" / "bin" / "python"


def environment(folder):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("KEEL_")}
    return plain | {"KEEL_CONFIG": os.devnull, "KEEL_PLUGIN": str(PLUGIN),
                    "KEEL_CACHE_DIR": str(folder / "cache"), "KEEL_RUN_DIR": str(folder / "runs"),
                    "TEST_PLUGIN_CALLS": str(folder / "calls")}


def under(tool, options, library, inputs):
    """Runs the client under a tool of valgrind; returns the tool's output and its file."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="keel-bench-"))
    out = folder / "out"
    answer = subprocess.run(["valgrind", f"--tool={tool}", f"--{tool}-out-file={out}", *options,
                             CLIENT, library, *inputs], env=environment(folder), text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if answer.returncode:
        sys.exit(f"compile_cost: {tool}: exit code {answer.returncode}: {answer.stderr[-600:]}")
    text = out.read_text()
    shutil.rmtree(folder)
    return answer.stderr, text


def instructions(library, inputs):
    said, _ = under("callgrind", [], library, inputs)
    return int(re.search(r"Collected : (\d+)", said).group(1))


def heap(library, inputs):
    _, text = under("massif", [], library, inputs)
    return max(int(number) for number in re.findall(r"^mem_heap_B=(\d+)", text, re.MULTILINE))


def programs(folder):
    """Options, and lists of programs that a client compiles in turn."""
    subprocess.run([PYTHON, ROOT / "bench" / "make_programs.py", folder, "1", "8"], check=True,
                   stdout=subprocess.DEVNULL)
    first = folder / "gpt8.mlir"
    again = folder / "again.mlir"
    again.write_bytes(another_constant(first.read_bytes()))
    return folder / "gpt1.opts", {
        "a train step of one layer": [folder / "gpt1.mlir"],
        "a train step of eight layers": [first],
        "the same, then again with another constant": [first, again],
    }


def another_constant(program):
    """The program with another learning rate (it replaces every 0.1)."""
    old, new = struct.pack("<f", 0.1), struct.pack("<f", 0.2)
    if old not in program:
        sys.exit("compile_cost: the train step has no constant 0.1 any more")
    return program.replace(old, new, 1)


def main():
    parser = argparse.ArgumentParser(description="What the plugin door adds to a compile.")
    parser.add_argument("--library", action="append", type=pathlib.Path, default=[])
    libraries = [DOOR, *parser.parse_args().library]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="keel-bench-"))
    options, lists = programs(folder)
    print("## What the door adds to a compile\n")
    print("Command: `bench/compile_cost.py`. Instructions (callgrind) and the most heap in use "
          "(massif) of a client that compiles the programs once, all threads included, less those "
          "of the same client that compiles nothing. The wrapped plugin costs next to nothing.\n")
    print("| library | compiled | instructions | heap |")
    print("|---|---|--:|--:|")
    for library in libraries:
        bare = instructions(library, [options]), heap(library, [options])
        for name, inputs in lists.items():
            cost = instructions(library, [options, *inputs]) - bare[0]
            memory = heap(library, [options, *inputs]) - bare[1]
            print(f"| {library.name} | {name} | {cost / 1e6:.1f} M | {memory / 2**20:.2f} MiB |",
                  flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
