"""Measures mutations.py: what each does to the code that real compilers make, and to the keys.

    tests/keys/run.py [--sample] [--only COMPILER] [--jobs N] [PART OF A ROW'S NAME..]

Each side of a row is a process with an empty cache, so every program is compiled; it says what code it
got, its journal has the keys. A part of code that differs between processes of one side counts for
nothing. A row fails if code differs and the key does not, or if a needless mutation has another key. GPUs and
TPUs are rehearsed, if .venv-targets is there.
"""

import argparse
import concurrent.futures
import functools
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, PLUGIN, PYTHON, ROOT, Report, Workspace, clean_environment,  # noqa: E402
                     journal, last_json, of_kind, run, told)
from mutations import EMBEDDED, GPU, NEEDLESS, OWN, ROWS, SAMPLE, TPU  # noqa: E402

TARGETS = {GPU: "h200:2", TPU: "v6e:2x4"}
TARGETS_PYTHON = ROOT / ".venv-targets/bin/python"
TOOLKIT = ROOT / ".venv-targets/toolkit"
OTHERS = "AWS_", "CUDA", "GOOGLE_", "NCCL_", "NPROC", "ONEDNN_", "TF_"
NOT_VARIABLES = "cpus", "folder", "toolkit", "target"
LAYOUTS = 4  # of memory (programs.py)


class Unusable(Exception):
    """A side that says nothing, with why."""


class Side:
    """Processes of one kind: what each part of a program's code was, and the key of each program."""

    def __init__(self, place, compiler, given):
        self.place, self.compiler, self.code, self.keys = place, compiler, {}, {}
        self.given = {name: value.replace("{space}", str(place / "files")).replace(
            "{cpus}", str(len(os.sched_getaffinity(0)))).replace(
            "{site}", str(next(TARGETS_PYTHON.parent.parent.glob("lib/*/site-packages"), "")))
            for name, value in given.items()}

    def environment(self):
        made = {name: value for name, value in clean_environment().items() if not name.startswith(OTHERS)}
        made |= {"TF_CPP_MIN_LOG_LEVEL": "3", "KEEL_CONFIG": os.devnull, "PYTHONDONTWRITEBYTECODE": "1",
                 "KEEL_CACHE_DIR": str(self.place / "cache"), "KEEL_RUN_DIR": str(self.place / "runs")}
        if "toolkit" in self.given:
            made["PYTHONPATH"] = str(TOOLKIT / self.given["toolkit"])
        return made | {name: value for name, value in self.given.items()
                       if name not in NOT_VARIABLES and not name.startswith("file ")}

    def command(self, layout):
        pinned = ["taskset", "-c", self.given["cpus"]] if "cpus" in self.given else []
        door = {OWN: [KEEL, "run", "--jax-cpu", "own"], EMBEDDED: [KEEL, "run", "--plugin", PLUGIN]}.get(
            self.compiler)
        if not door:
            door = [KEEL, "rehearse", "--on", self.given.get("target", TARGETS[self.compiler])]
        return [*pinned, *door, "--", TARGETS_PYTHON if self.compiler in TARGETS else PYTHON,
                HERE / "programs.py", str(layout)]

    def measure(self, layout):
        for name, content in self.given.items():
            if name.startswith("file "):
                path = self.place / "files" / name.removeprefix("file ")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
        (self.place / "files").mkdir(parents=True, exist_ok=True)
        answer = run(self.command(layout), self.environment(), cwd=self.given.get("folder"))
        code = last_json(answer)
        events = [event for path in (self.place / "runs").glob("*/journal.ndjson")
                  for event in journal(self.place / "runs", path.parent.name)]
        for name in ("cache", "runs"):
            shutil.rmtree(self.place / name, ignore_errors=True)
        asked = {event["name"]: event for event in of_kind(events, "miss") if event["name"] in (code or {})}
        if answer.code or not code or set(asked) != set(code) or of_kind(events, "load"):
            raise Unusable(told(answer, 8))
        for name, event in asked.items():
            if self.keys.setdefault(name, event)["key"] != event["key"]:
                raise Unusable(f"{name} has several keys")
            for part, value in code[name].items():
                self.code.setdefault((name, part), set()).add(value)
        return self

    def varying(self):
        return {part for part, values in self.code.items() if len(values) > 1}


class Judge:
    def __init__(self, space):
        self.space = space
        self.counts = dict.fromkeys(("code differs", "another key for the same code", "unsound", "misses"), 0)

    @functools.lru_cache
    def base(self, compiler):
        side = Side(self.space.path(compiler), compiler, {})
        for layout in range(LAYOUTS):
            side.measure(layout)
        return side

    def measure(self, number, row, compiler):
        """Which programs have other code, which have another key, and what of their keys differs."""
        place = self.space.path(f"{number}{compiler}")
        before = Side(place, compiler, row.before).measure(0) if row.before else self.base(compiler)
        after = Side(place, compiler, row.after).measure(0)
        moved = {name for name, event in before.keys.items() if event["key"] != after.keys[name]["key"]}
        noisy = self.base(compiler).varying()
        differs = differing(before, after, noisy)
        for layout in range(1, LAYOUTS):
            if differs <= moved:
                break
            for side in (before, after) if row.before else (after,):
                side.measure(layout)
            differs = differing(before, after, noisy)
        components = {part for name in moved for part, digest in before.keys[name]["components"].items()
                      if digest != after.keys[name]["components"].get(part)}
        return differs, moved, sorted(components)

    def judge(self, report, row, label, answer):
        if isinstance(answer, Unusable):
            report.check(label, False, answer)
            return
        differs, moved, components = answer
        unsound, missed = differs - moved, moved if row.kind == NEEDLESS else set()
        for name, found in (("code differs", differs), ("unsound", unsound), ("misses", missed),
                            ("another key for the same code", moved and not differs)):
            self.counts[name] += bool(found)
        said = (f"code {'differs' if differs else 'is the same'}, "
                f"{'another' if moved else 'the same'} key{': ' + ', '.join(components) if moved else ''}")
        report.check(f"{label}: {said}", not unsound and not missed, [*sorted(unsound), *sorted(missed)])


def differing(before, after, noisy):
    parts = (before.code.keys() | after.code.keys()) - noisy - before.varying() - after.varying()
    return {part[0] for part in parts if before.code.get(part) != after.code.get(part)}


def shown(given):
    return " ".join(f"{name}={value!r}" for name, value in given.items()) or "nothing"


def why_not(row, compiler):
    if compiler in TARGETS and not TARGETS_PYTHON.exists():
        return "no .venv-targets"
    given = row.before | row.after
    if "toolkit" in given and not TOOLKIT.exists():
        return "no .venv-targets/toolkit"
    if "cpus" in given and (len(os.sched_getaffinity(0)) < 2 or not shutil.which("taskset")):
        return "it takes two processors and taskset"
    return ""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--sample", action="store_true")
    options.add_argument("--only", help="a compiler", choices=[OWN, EMBEDDED, GPU, TPU])
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("words", nargs="*")
    options = options.parse_args()
    report = Report()
    with Workspace("keys") as space, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        judge, waiting = Judge(space), []
        for number, row in enumerate(SAMPLE if options.sample else ROWS):
            for compiler in row.compilers:
                label = f"{row.kind} {compiler}: {shown(row.before)} -> {shown(row.after)}"
                if options.only and options.only != compiler or any(word not in label for word in options.words):
                    continue
                if why := why_not(row, compiler):
                    report.skip(label, why)
                else:
                    waiting.append((row, compiler, number, label))
        for compiler in dict.fromkeys(compiler for _, compiler, _, _ in waiting):
            try:
                noisy = " ".join(sorted(map(".".join, judge.base(compiler).varying()))) or "nothing"
                report.check(f"{compiler}: {LAYOUTS} processes alike have one key; by itself varies {noisy}", True)
            except Unusable as error:
                report.check(f"{compiler} compiles", False, error)
                waiting = [one for one in waiting if one[1] != compiler]

        def measured(one):
            try:
                return judge.measure(one[2], one[0], one[1])
            except Unusable as error:
                return error
        for one, answer in zip(waiting, pool.map(measured, waiting)):
            judge.judge(report, one[0], one[3], answer)
        kinds = [row.kind for row, *_ in waiting]
        print(f"{len(kinds) - kinds.count(NEEDLESS)} that may decide, {kinds.count(NEEDLESS)} needless; "
              + ", ".join(f"{name}: {count}" for name, count in judge.counts.items()))
    report.finish()


if __name__ == "__main__":
    main()
