#!/usr/bin/env python3
"""Compiles what Keel writes and slices with the embedded plugin, on every recorded program.

Usage: run.py TASK WORKER PLUGIN [--most N] [--part I/N] [--show WORD] [PLACE...]
  TASK     rewrite: a program as Keel writes it gives the same optimized program as its own bytes;
           slices: the program of each single result compiles, and gives the result that the whole
           program gives
  WORKER   the program `needs_worker`, which does the work
  --most   slices of one program (16), spread over its results
  --part   only one of N parts of the programs, which their names decide (1/1)
  --show   print each answer that has the word
  PLACE    folders, archives (.tar.zst) or programs (the samples and recordings of the tests)

All of them take an hour of one core. The worker is one process until it dies of a program; then the next one goes on behind it.
"""

import argparse
import collections
import pathlib
import re
import selectors
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
PLACES = [TESTS / "samples", TESTS.parent / "fuzz/corpus/needs", *sorted((TESTS / "corpus/recorded").glob("*.tar.zst"))]
DEADLINE = 300
MOST_SHOWN = 25

# Answers that are as they should be, and what else may be so, with the reason.
GOOD = {"rewrite": ("same", "only original refused"), "slices": ("same", "near", "compiled", "obstacle")}


class Worker:
    def __init__(self, command):
        self.command, self.process = command, None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)

    def lines(self, task):
        """The answers to a task, and how the worker ended if it did."""
        if not self.process:
            self.start()
        self.process.stdin.write(task.encode() + b"\n")
        answers, rest, end = [], b"", time.monotonic() + DEADLINE
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0, end - time.monotonic())):
                    self.process.kill()
                    return self.ended(answers, f"took more than {DEADLINE} s")
                data = self.process.stdout.read(65536)
                if not data:
                    return self.ended(answers, None)
                *lines, rest = (rest + data).split(b"\n")
                answers += [line.decode(errors="replace") for line in lines]
                if answers and answers[-1] == ".":
                    return answers[:-1], None

    def ended(self, answers, how):
        code = self.process.wait()
        self.process = None
        return answers, how or (f"dies of signal {-code}" if code < 0 else f"ends with exit code {code}")

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def is_program(name):
    return name.endswith((".mlir", ".hlo"))


def unpack(archive, folder):
    """The programs of an archive, each once: runs name them by their digest."""
    data = subprocess.run(["zstd", "-dcq", "--long=27", archive], check=True, stdout=subprocess.PIPE).stdout
    whole = folder / "whole.tar"
    whole.write_bytes(data)
    with tarfile.open(whole) as tar:
        for member in tar:
            name = pathlib.PurePath(member.name)
            target = folder / (name.name if re.match(r"[0-9a-f]{64}\.", name.name)
                               else "_".join(name.parts))
            if member.isfile() and is_program(name.name) and not target.exists():
                target.write_bytes(tar.extractfile(member).read())
    whole.unlink()


def programs(places, folder):
    found = []
    for place in places:
        place = pathlib.Path(place)
        if place.name.endswith(".tar.zst"):
            inside = folder / place.name
            inside.mkdir()
            unpack(place, inside)
            place = inside
        found += sorted(path for path in place.rglob("*") if is_program(path.name)) \
            if place.is_dir() else [place]
    return found


def is_in(path, part):
    this, all_parts = map(int, part.split("/"))
    return zlib.crc32(path.name.encode()) % all_parts == this - 1


def kind_of(answer):
    """"slice 3: differs: its bits" -> "differs"."""
    return re.sub(r"^slice \d+: ", "", answer).split(":")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=GOOD)
    parser.add_argument("worker")
    parser.add_argument("plugin")
    parser.add_argument("--most", type=int, default=16)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--show", default="")
    parser.add_argument("places", nargs="*")
    options = parser.parse_intermixed_args()
    counts, bad, refused = collections.Counter(), [], collections.Counter()
    worker = Worker([options.worker, options.plugin])
    with tempfile.TemporaryDirectory() as folder:
        paths = [path for path in programs(options.places or PLACES, pathlib.Path(folder))
                 if is_in(path, options.part)]
        for path in paths:
            task = f"{options.task} {path}" + (f" {options.most}" if options.task == "slices" else "")
            answers, ended = worker.lines(task)
            if ended:
                answers.append(f"worker: {ended}")
            for answer in answers:
                kind = kind_of(answer)
                counts[kind] += 1
                if options.show and options.show in answer:
                    print(f"{path}: {answer}")
                if kind == "refused":
                    refused[answer.split("refused: ")[1][:120]] += 1
                elif kind not in GOOD[options.task]:
                    bad.append(f"{path}: {answer}")
        worker.stop()
    for line in bad[:MOST_SHOWN]:
        print(line)
    for reason, count in refused.most_common(MOST_SHOWN):
        print(f"{count:5} refused: {reason}")
    print(f"{len(paths)} programs: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    sys.exit(1 if bad or not paths else 0)


if __name__ == "__main__":
    main()
