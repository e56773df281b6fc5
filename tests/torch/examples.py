"""The accidents of examples/torch: without them nothing is compiled again. Each brings more
compiles, or reads in mid-step, and `keel why` names its cause and its line.

    examples.py [--rehearse TARGET] [NAME]...     these accidents, or all; under `keel rehearse`
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, ROOT, Report, Workspace, clean_environment,  # noqa: E402
                     compiles, journal, run, told)

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
SCRIPT = ROOT / "examples" / "torch" / "train_gpt.py"
SMALL = ["--layers", "1", "--width", "16", "--seq", "24", "--steps", "4", "--epoch", "11"]
# What an accident needs to happen at all.
NEEDS = {"micro-sync": ["--micro", "2"], "sharding-unset": ["--spmd"]}
# The causes, and what stands in the line of each.
CAUSES = {
    "counter-power": [("constant", ".pow(step)")],
    "counter-size": [("size", ": 16 + step]")],
    "item": [("host_read", "loss.item()")],
    "any-item": [("host_read", ".any().item()")],
    "mask-gather": [("shape", "losses[valid > 0]"), ("host_read", "losses[valid > 0]")],
    "varying-length": [("shape", "torch.from_numpy(batch[")],
    "top-k": [("size", ".topk(")],
    "optional-keys": [("arguments", 'batch["weights"]')],
    "ragged-batch": [("shape", "torch.from_numpy(batch[")],
    "moe-capacity": [("size", "slots")],
    "micro-sync": [("gradient", "loss.backward()")],
    "zero-grad": [("gradient", "loss.backward()")],
    "adamw-state": [("arguments", "optimizer.step()")],
    "adamw-host": [("host_read", "optimizer.step()")],
    "rate": [("constant", "optimizer.step()")],
    "checkpoint-assign": [("donation", "model.to(DEVICE)")],
    "sharding-unset": [("sharding", "optimizer.step()")],
}
LINES = SCRIPT.read_text().splitlines()
COMMAND = ["run"]
report = Report()


def environment():
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_CPU_DEVICES": "4",
                                  "TF_CPP_MIN_LOG_LEVEL": "3"}


def train(space, name, arguments):
    """The number of compiles, and what `keel why` says; None if the process failed."""
    runs = space.path(name) / "runs"
    answer = run([KEEL, *COMMAND, "--quiet", "--lines", "--cache-dir", space.path(name) / "cache",
                  "--run-dir", runs, "--", PYTHON, SCRIPT, *SMALL, *arguments], environment())
    if not report.check(f"{name}: the process ends well", answer.code == 0, told(answer)):
        return None
    events = [event for path in runs.glob("*/journal.ndjson")
              for event in journal(runs, path.parent.name)]
    why = run([KEEL, "why", "--json", "--run-dir", runs], environment())
    return len(compiles(events)), json.loads(why.out)


def named(items, kind, text):
    """True if an item has that cause at a line of the example with that text."""
    return any(item["kind"] == kind and item["file"] == str(SCRIPT) and item.get("line") and
               text in LINES[item["line"] - 1] for item in items)


def shown(items):
    return [f"{item['kind']} at {pathlib.Path(item['file']).name}:{item.get('line')}"
            for item in items]


def check_stable(space, needs):
    name = " ".join(["stable", *needs])
    result = train(space, name.replace(" ", ""), needs)
    if result:
        report.equal(f"{name}: nothing is compiled again, nothing read in mid-step", result[1], [])
        # Its state, a step; a checkpoint that says its sharding.
        report.check(f"{name}: at most 3 programs", result[0] <= 3, result[0])
    return result[0] if result else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rehearse")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.rehearse:
        COMMAND[:] = ["rehearse", "--on", options.rehearse, "--compile", "none"]
    with Workspace("accidents") as space:
        steady = {}
        for name, causes in CAUSES.items():
            if options.names and name not in options.names:
                continue
            needs = NEEDS.get(name, [])
            if tuple(needs) not in steady:
                steady[tuple(needs)] = check_stable(space, needs)
            result = train(space, name, [*needs, "--accident", name])
            if not result:
                continue
            count, items = result
            # AdamW's state takes a program too where it is made beforehand, if a small one.
            again = any(item["recompile"] for item in items)
            report.check(f"{name}: more is compiled than without it, or a step again",
                         count > steady[tuple(needs)] or again, count)
            for kind, text in causes:
                report.check(f"{name}: {kind} at the line with {text}", named(items, kind, text),
                             shown(items))
    listed = run([PYTHON, SCRIPT, "--list"], environment()).out
    report.equal("every accident is tried", sorted(line.split()[0] for line in listed.splitlines()),
                 sorted(CAUSES))
    report.finish()


main()
