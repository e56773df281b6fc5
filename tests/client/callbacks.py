"""JAX's host callbacks give through Keel what they give without it, in every mode, and their programs
are loaded again."""

import os

from harness import (HERE, KEEL, PYTHON, Report, Workspace, clean_environment, compiles, journal,
                     last_json, loads, run, told)

report = Report()
SCRIPT = HERE / "callback_programs.py"


def environment():
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3"}


def through_keel(space, name, wanted, *settings):
    """The events of one more run."""
    runs = space.path("runs")
    before = set(runs.glob("*/journal.ndjson"))
    answer = run([KEEL, "run", "--quiet", "--cache-dir", space.path("cache"), "--run-dir", runs,
                  *settings, "--", PYTHON, SCRIPT], environment())
    report.check(f"{name}: the process ends well", answer.code == 0, told(answer))
    report.check(f"{name}: jax.debug.print prints", "printed [0 1 2]" in answer.out, told(answer))
    results = last_json(answer) or {}
    for work, result in wanted.items():
        report.equal(f"{name}: {work}", results.get(work), result)
    return [event for path in set(runs.glob("*/journal.ndjson")) - before
            for event in journal(runs, path.parent.name)]


with Workspace("callbacks") as space:
    alone = run([PYTHON, SCRIPT], environment() | {"JAX_PLATFORMS": "cpu"})
    wanted = last_json(alone) or {}
    report.check("JAX alone has results", len(wanted) == 11, told(alone))
    events = through_keel(space, "cold", wanted)
    report.check("cold: programs are compiled", len(compiles(events)) > 10, len(events))
    events = through_keel(space, "warm", wanted)
    report.equal("warm: nothing is compiled", len(compiles(events)), 0)
    report.check("warm: programs are loaded", len(loads(events)) > 10, len(events))
    through_keel(space, "off", wanted, "--mode", "off")
report.finish()
