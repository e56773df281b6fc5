"""PyTorch/XLA behaves through Keel as it does without its cache: the numbers of the workloads are the
same bit for bit cold, warm and with Keel off, and near those of PyTorch on the CPU; and a warm
process compiles nothing.

    behaviour.py WHERE [--plugin NAME] MODULE...   as workloads.py has them; a plugin of .venv-plugins
"""

import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, ROOT, Report, Workspace, clean_environment, compiles, journal,  # noqa: E402
                     last_json, loads, of_kind, other_plugins, run, told)

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
TOLERANCE = 1e-3  # relative: the CPU without XLA sums in another order
DRAWN = {"trainings.dropout", "operations.random_numbers"}  # by the device's own generator
# A training that was interrupted goes on as if it had not been, however it was loaded.
TRAINED = "trainings.mlp_with_adam"
CONTINUED = {"trainings.checkpoint_copied", "trainings.checkpoint_assigned",
             "trainings.checkpoint_assigned_on_the_cpu"}
report = Report()


def environment():
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_CPU_DEVICES": "4",
                                  "TF_CPP_MIN_LOG_LEVEL": "3"}


def numbers_of(name, *command):
    """What the process printed, less the workloads that failed in it."""
    answer = run(command, environment())
    numbers = last_json(answer)
    report.check(f"{name}: the process ends well", answer.code == 0 and numbers, told(answer))
    failed = {workload: values for workload, values in (numbers or {}).items()
              if isinstance(values, str)}
    report.equal(f"{name}: no workload fails", failed, {})
    return {workload: values for workload, values in (numbers or {}).items()
            if workload not in failed}


class Runs:
    """Processes through Keel with one cache; the journal of each is in a folder of its own."""

    def __init__(self, space, plugin, words):
        self.space, self.words = space, words
        self.options = ["--quiet", "--cache-dir", space.path("cache")]
        self.options += ["--plugin", plugin] if plugin else []

    def numbers(self, name, mode="on"):
        return numbers_of(name, KEEL, "run", *self.options, "--run-dir", self.space.path(name),
                          "--mode", mode, "--", PYTHON, HERE / "workloads.py", *self.words)

    def events(self, name):
        return [event for path in self.space.path(name).glob("*/journal.ndjson")
                for event in journal(self.space.path(name), path.parent.name)]


def check_same(name, got, wanted):
    for workload, values in wanted.items():
        report.equal(f"{name}: {workload} has the same numbers", got.get(workload), values)


def check_near(got, wanted):
    def is_near(a, b):
        return abs(a - b) <= TOLERANCE * max(1, abs(b))
    for workload in got.keys() & wanted.keys() - DRAWN:
        values, others = ([float.fromhex(value) for value in numbers[workload]]
                          for numbers in (got, wanted))
        apart = [pair for pair in zip(values, others) if not is_near(*pair)]
        report.check(f"cold: {workload} is near what the CPU computes",
                     len(values) == len(others) and not apart,
                     f"{len(values)} and {len(others)} numbers, {apart[:3]}")


def seconds(events):
    return sum(event["seconds"] for event in events)


def check_warm(cold, warm):
    names = [event["name"] for event in of_kind(warm, "compile")]
    report.equal("warm: nothing is compiled", names, [])
    report.equal("warm: all that was compiled is loaded",
                 {event["key"] for event in loads(warm)},
                 {event["key"] for event in compiles(cold)})
    ahead = sum(event.get("ahead_seconds", 0) for event in loads(warm))
    print(f"         {len(compiles(cold))} compiles {seconds(compiles(cold)):.2f} s; "
          f"{len(loads(warm))} loads {seconds(loads(warm)):.3f} s, and {ahead:.3f} s before they were "
          "asked for")
    report.equal("cold, warm: nothing fails to be stored",
                 [event["message"] for event in of_kind(cold + warm, "store_error")], [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("where", choices=("xla", "spmd"))
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--plugin")
    options = parser.parse_args()
    plugin = dict(other_plugins()).get(options.plugin)
    if options.plugin and not plugin:
        report.skip(options.plugin, "it is missing: tools/setup --all-plugins brings it")
        sys.exit(0)
    with Workspace("torch") as space:
        runs = Runs(space, plugin, [options.where, *options.modules])
        reference = numbers_of("cpu", PYTHON, HERE / "workloads.py", "cpu", *options.modules)
        cold = runs.numbers("cold")
        check_near(cold, reference)
        for workload in sorted(CONTINUED & cold.keys()):
            report.equal(f"cold: {workload} has the numbers of {TRAINED}", cold[workload],
                         cold.get(TRAINED))
        check_same("warm", runs.numbers("warm"), cold)
        check_warm(runs.events("cold"), runs.events("warm"))
        if not plugin:  # the others hang without what Keel makes of the options
            check_same("off", runs.numbers("off", mode="off"), cold)
            report.equal("off: nothing is journalled as compiled or loaded",
                         of_kind(runs.events("off"), "compile", "load"), [])
    report.finish()


main()
