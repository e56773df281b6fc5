#!/usr/bin/env python3
"""examples/c/gpt.c beside examples/jax/train_gpt.py, both through Keel on the same plugin: time to
first step of a warm process, compile time of the training program, and time of a step. Prints a
section of Markdown.

Usage: .venv/bin/python bench/gpt_in_c.py [--layers 8] [--repeats 5] [--cold-repeats 3]

The two take turns, and a ratio is the median of those of the turns, so that what else the machine
does matters little.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import warm_start

PROGRAM = warm_start.ROOT / "build" / "examples" / "gpt"
STEPS = 17  # of an epoch of 157 rows: no short batch, for which JAX would compile again
SMALL = ["--batch", "1", "--seq", "16"]  # a step of next to no time


class InJax(warm_start.Keel):
    """The script, through the plugin door."""

    def __init__(self, folder):
        super().__init__(folder)
        self.folder = folder
        self.command = [*self.prefix, warm_start.PYTHON, "-u", warm_start.SCRIPT]


class InC(InJax):
    """The same model on libkeel, with the same text."""

    def __init__(self, folder):
        super().__init__(folder)
        import pydoc_data.topics

        topics = pydoc_data.topics.topics
        text = pathlib.Path(folder) / "topics.txt"
        text.write_text("\n\n".join(topics[name] for name in sorted(topics)))
        self.command = [*self.prefix, PROGRAM, text]


def run(kind, *options):
    """Seconds to the first step, and of each further one."""
    steps = int(options[options.index("--steps") + 1])
    answer = subprocess.run([*kind.command, *options], cwd=warm_start.ROOT, text=True, capture_output=True,
                            env=warm_start.plain_environment() | kind.env)
    found = [re.search(rf"^{name}: ([\d.]+) s$", answer.stdout, re.M) for name in ("time to first step", "total")]
    if answer.returncode or None in found:
        sys.exit(f"gpt_in_c: {kind.command}: exit code {answer.returncode}\n{answer.stderr[-2000:]}")
    first, total = (float(match[1]) for match in found)
    return first, (total - first) / max(steps - 1, 1)


def compile_seconds(kind):
    """Of the most expensive program of the newest run: the training step."""
    events = warm_start.newest_journal(kind.folder)
    return max(event["seconds"] for event in events if event["event"] == "compile")


def median_of(pairs):
    """Of JAX, of C, and of their ratios."""
    return [statistics.median(column) for column in (*zip(*pairs), [c / jax for jax, c in pairs])]


def measure(arguments):
    layers = ["--layers", str(arguments.layers)]
    rows = {}
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as folder:
        cold, warm, small, step = [], [], [], []
        for repeat in range(arguments.cold_repeats):
            kinds = [make(tempfile.mkdtemp(dir=folder)) for make in (InJax, InC)]
            for kind in warm_start.rotated(kinds, repeat):
                run(kind, *layers, "--steps", "1")
            cold.append([compile_seconds(kind) for kind in kinds])
        for kind in kinds:  # so that each cache has what follows
            run(kind, *layers, "--steps", "1")
            for _ in range(2):
                run(kind, *layers, *SMALL, "--steps", "1")
        for repeat in range(arguments.repeats):
            got = {kind: (run(kind, *layers, "--steps", "1")[0], run(kind, *layers, *SMALL, "--steps", "1")[0],
                          run(kind, *layers, "--steps", str(STEPS))[1])
                   for kind in warm_start.rotated(kinds, repeat)}
            for column, list_of in enumerate((warm, small, step)):
                list_of.append([got[kind][column] for kind in kinds])
        rows["compiling the training program, cold"] = median_of(cold)
        rows["time to first step, warm"] = median_of(warm)
        rows[f"the same with `{' '.join(SMALL)}`"] = median_of(small)
        rows["a step"] = median_of(step)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cold-repeats", type=int, default=3)
    arguments = parser.parse_args()
    rows = measure(arguments)
    command = " ".join([".venv/bin/python bench/gpt_in_c.py", *sys.argv[1:]])
    print("## A GPT in C beside JAX\n")
    print(f"Command: `{command}`. `examples/c/gpt.c` beside `{warm_start.SCRIPT}`, {arguments.layers} layers, both "
          "through Keel on the same plugin. They take turns: medians of "
          f"{arguments.cold_repeats} cold and {arguments.repeats} warm turns; the ratio is the median of the turns' "
          "own. The time to first step is from the start of the program and includes that step: with a batch of one "
          "short row it is next to nothing.\n")
    print("| | JAX | C | C / JAX |\n|---|---|---|---|")
    for name, (jax, c, ratio) in rows.items():
        print(f"| {name} | {jax:.2f} s | {c:.2f} s | {ratio:.2f} |")


if __name__ == "__main__":
    main()
