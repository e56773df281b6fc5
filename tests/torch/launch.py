"""torch_xla.launch through Keel, with four replica threads in one process: all-reduces have the
right sums, and a data-parallel training the numbers of one process with the whole batch, the same to
the last bit in each thread, cold and warm. A process that hangs is ended and fails.

    launch.py [--plugin NAME] [--runs N]     a plugin of .venv-plugins; how many warm runs, 1 if unset
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, ROOT, Report, Workspace, clean_environment, compiles,  # noqa: E402
                     errors_until, finish, journal, last_json, loads, of_kind, other_plugins, run,
                     start, told)

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
TOLERANCE = 1e-5  # relative: the CPU without XLA sums in another order
report = Report()


def environment():
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_CPU_DEVICES": "4",
                                  "TF_CPP_MIN_LOG_LEVEL": "3"}


class Runs:
    def __init__(self, space, plugin):
        self.space = space
        self.options = ["--cache-dir", space.path("cache")]
        self.options += ["--plugin", plugin] if plugin else []

    def start(self, name, what):
        return start([KEEL, "run", *self.options, "--run-dir", self.space.path(name), "--", PYTHON,
                      HERE / "replicas.py", what], environment())

    def replicas(self, name):
        """The line of each replica, by its ordinal."""
        answer = finish(self.start(name, "launch"))
        lines = [json.loads(line) for line in answer.out.splitlines() if line.startswith("{")]
        found = {line.pop("ordinal"): line for line in lines}
        report.check(f"{name}: four replicas end well",
                     answer.code == 0 and sorted(found) == [0, 1, 2, 3], told(answer))
        return found

    def events(self, name):
        return [event for path in self.space.path(name).glob("*/journal.ndjson")
                for event in journal(self.space.path(name), path.parent.name)]


def is_near(got, wanted):
    pairs = [(float.fromhex(a), float.fromhex(b)) for a, b in zip(got, wanted)]
    return len(got) == len(wanted) and all(abs(a - b) <= TOLERANCE * max(1, abs(b))
                                           for a, b in pairs)


def check_cold(cold, reference):
    for ordinal, numbers in sorted(cold.items()):
        report.equal(f"cold: replica {ordinal} has the right sums", numbers["sums"],
                     reference["sums"])
        report.equal(f"cold: replica {ordinal} has the numbers of the others", numbers["losses"],
                     cold[0]["losses"])
    report.check("cold: a training on four parts of a batch has the numbers of the whole",
                 0 in cold and is_near(cold[0]["losses"], reference["losses"]), cold.get(0))


def check_warm(name, runs):
    cold, warm = runs.events("cold"), runs.events(name)
    report.equal(f"{name}: nothing is compiled", [event["name"] for event in compiles(warm)], [])
    report.equal(f"{name}: what is loaded was compiled by the cold run",
                 {event["key"] for event in loads(warm)} - {event["key"] for event in compiles(cold)},
                 set())


def check_told(runs, gathers):
    """A plugin that gathers the devices of an execution: that is said once."""
    told = [event["message"] for event in of_kind(runs.events("cold"), "fallback")
            if "'all-reduce'" in event["message"]]
    report.equal("cold: it says once that replicas share an executable", len(told),
                 1 if gathers else 0)


def check_lame(runs):
    """Replicas that run different programs deadlock there, and Keel says why."""
    words = "Each replica must run the same program"
    process = runs.start("lame", "lame")
    said = errors_until(process, words)
    finish(process, 0)
    report.check("lame: replicas that run different programs are named", words in said, said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plugin")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    plugin = dict(other_plugins()).get(options.plugin)
    if options.plugin and not plugin:
        report.skip(options.plugin, "it is missing: tools/setup --all-plugins brings it")
        sys.exit(0)
    with Workspace("launch") as space:
        runs = Runs(space, plugin)
        reference = last_json(run([PYTHON, HERE / "replicas.py", "cpu"], environment()))
        cold = runs.replicas("cold")
        check_cold(cold, reference)
        check_told(runs, bool(plugin))
        for index in range(options.runs):
            name = f"warm-{index}"
            report.equal(f"{name}: the numbers are those of the cold run", runs.replicas(name), cold)
            check_warm(name, runs)
        if plugin:
            check_lame(runs)
    report.finish()


main()
